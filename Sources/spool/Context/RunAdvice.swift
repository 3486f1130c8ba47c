import PipelineEngine
import PipelineModel
import Platform
import Search
import Store

/// What a failed run advises its user to type.
extension SpoolError {
  /// The error of a resumed run. `spool resume` takes no options of the output folder: where one is
  /// advised, `spool run` with the run's own arguments takes it.
  func resumed(_ run: RunRecord, _ options: [String]) -> SpoolError {
    guard let advice, advice.contains("\(option: .replace)") else { return self }
    let removal = "move that file away and go on"
    // The pipeline of a quick command is no file.
    guard run.pipelinePath.hasPrefix("/") else { return advising(removal) }
    let line = run.line(adding: options + ["\(option: .replace)"])
    return advising("\(removal); or overwrite it: \(line)")
  }

  /// The error of a run with the very line that mends it, where a variable of the pipeline sets the
  /// wrong parameter.
  func remedied(
    by failure: RunError, of run: RunRecord, _ options: [String]
  ) -> SpoolError {
    let faults = failure.error.faults.filter { $0.remedy != nil }
    guard let fault = faults.first, let remedy = fault.remedy, let step = failure.step,
      let text = run.request?.pipelineText, let definition = ParsedPipeline(text).definition,
      let name = definition.variable(setting: fault.path, of: step.name, failure.kind)
    else { return self }
    let line = run.line(setting: [name: remedy], adding: options)
    return advising("\(fault.message); this line says so: \(line)")
  }

  private func advising(_ advice: String) -> SpoolError {
    var error = SpoolError(message, reason: reason, advice: advice, cause: cause, kind: kind)
    error.others = others
    return error
  }
}

extension RunRecord {
  /// The command line of the run.
  /// - Parameters:
  ///   - variables: overrides besides its own, or instead of them.
  ///   - words: options at its end.
  ///   - store: where the recordings are that an inbox has given up; nil if they are where they were.
  func line(
    setting variables: [String: String] = [:], adding words: [String] = [],
    from store: DiskStore? = nil
  ) -> String {
    let files = store?.files(of: self, isAnew: true)
    var line = ["spool", "run", pipelinePath]
    line += orderedInputs.map { "\($0.name)=\(files?[$0.name]?.path ?? $0.path)" }
    let overrides = overrides.merging(variables) { $1 }
    for (name, value) in overrides.sorted(by: { $0.key < $1.key }) {
      line += ["\(option: .set)", "\(name)=\(value)"]
    }
    if let folder = request?.folder { line += ["\(option: .out)", folder] }
    return ShellWords.line(line + words)
  }
}

extension LostWords {
  /// What is lost, and the command that finds it again.
  func lines(in store: DiskStore, option: String?) -> [String] {
    let way = command(in: store, option: option)
    let loss =
      "the words of \(recording), from run \(run), are lost; a run of the same finds them again"
    return [loss] + (way.flatMap { NextCommand($0) }.map { [$0.text] } ?? [])
  }

  /// Nil if the store does not know the run any more, or no pipeline's file.
  func command(in store: DiskStore, option: String?) -> String? {
    guard let run = try? store.runs.run(named: run), run.pipelinePath.hasPrefix("/") else {
      return nil
    }
    return run.line(adding: option.map { ["\(option: .store)", $0] } ?? [], from: store)
  }
}

extension PipelineDefinition {
  /// The variable that sets a parameter of a step; nil if none does.
  /// - Parameter kind: the step's, which is its name unless the pipeline gives one.
  fileprivate func variable(setting path: [String], of step: String, _ kind: String?) -> String? {
    let steps = steps.filter { $0.id?.value == step || $0.id == nil && $0.kind.value == kind }
    guard steps.count == 1, case .mapping(let entries)? = steps.first?.parameters.content,
      path.count == 1, let entry = entries.first(where: { $0.key == path.first }),
      case .scalar(let text, isQuoted: false) = entry.value.content, text.hasPrefix("$")
    else { return nil }
    return String(text.dropFirst())
  }
}
