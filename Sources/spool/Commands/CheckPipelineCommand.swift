import PipelineModel
import Platform

extension Command {
  /// `spool pipeline check`: every problem of a pipeline at once.
  static let checkPipeline = Command(
    name: "pipeline check", group: "Pipelines",
    summary: "Report every problem of a pipeline, each with its place and what is allowed.",
    positionals: [Options.files], options: [Options.plugins, Options.json],
    examples: [Example("Check all pipelines", "spool pipeline check Pipelines/*.yaml")],
    perform: CommandContext.checkPipelines)
}

extension Options {
  fileprivate static let files = Positional<[String]>.repeated(
    "PIPELINE", help: "The pipelines' files, or names from spool pipeline list.",
    completion: NameKind.pipelines.hint(orFiles: ["yaml", "yml"]))
}

extension CommandContext {
  fileprivate func checkPipelines() throws(SpoolError) -> ExitCode {
    var code = ExitCode.done
    for path in arguments[Options.files] {
      do throws(SpoolError) {
        let (problems, text) = try problems(at: path)
        if !problems.isEmpty { code = .usage }
        tell(problems, in: text, at: path)
        guard problems.isEmpty, let pipeline = try? pipeline(at: path) else { continue }
        var warnings = pipeline.definition.unusedVariables.map {
          "no stage uses the variable $\($0)"
        }
        for inputs in pipeline.definition.inputSets {
          let found = (try? plan(pipeline, given: inputs))?.captionsOfOtherSound ?? []
          warnings += found.filter { !warnings.contains($0) }
        }
        for warning in warnings {
          console.report("warning: " + Format.visible("\(path): \(warning)"))
        }
      } catch {
        console.report(error.text(console))
        code = error.exitCode
      }
    }
    return code
  }

  /// Warns of captions whose times are not those of the exported sound.
  func warnOfCaptions(in plan: Plan) {
    for warning in plan.captionsOfOtherSound {
      console.report("warning: \(Format.visible(warning))")
    }
  }

  /// The plan of a pipeline to which some inputs are given, whatever files they are.
  func plan(_ pipeline: Pipeline, given inputs: [InputDefinition]) throws(SpoolError) -> Plan {
    let names = inputs.flatMap(\.leastNames)
    return try plan(
      pipeline, inputs: Dictionary(names.map { ($0, "/\($0)") }, uniquingKeysWith: { $1 }),
      overrides: [], checksEquipment: false)
  }

  /// Prints every problem of a file, or that there is none.
  func tell(_ problems: [Problem], in text: String, at path: String) {
    if isJSON {
      for problem in problems { console.print(problem.value(in: path).canonicalJSON) }
    } else if problems.isEmpty {
      console.print("\(Format.visible(path)): no problems")
    } else {
      console.report(refusal(problems, in: text, at: path).text(console))
    }
  }
}

extension Plan {
  /// Stages that move all sound in time, which words follow by `retime` alone.
  private static let movers: Set<String> = ["trim", "cut", "silence", "speed"]

  /// Steps that write words with the times of sound before a cut, or behind some of several changes, where
  /// no export is of that sound: a line each.
  fileprivate var captionsOfOtherSound: [String] {
    let exports = steps.filter { $0.descriptor.kind == "export" }
    return steps.filter { $0.descriptor.kind == "transcript" }.compactMap { step -> String? in
      guard let (heard, retimes) = heard(of: step) else { return nil }
      let before = stepsAbove(heard)
      let followed = retimes.flatMap(changes)
      let missing = exports.map { export in
        let above = stepsAbove(export)
        return isOfSameSound(before, above)
          ? self.movers(in: above.subtracting(before), behind: before) : []
      }
      let isMoved = missing.contains { $0.allSatisfy { followed.contains($0.step) } }
      guard let moves = missing.last, !isMoved else { return nil }
      let list = moves.map(\.step.name).joined(separator: ", ")
      if let joint = joint(ofStretches: moves.map(\.step)) {
        return "\(step.id) writes words with the times before \(list), which are stretches that "
          + "\(joint) joins: take the words from these, by \(heard.id): { from: \(joint) }"
      }
      let part = moves.compactMap(\.part).first.map { ", part: \($0)" } ?? ""
      let nearest = steps.prefix { $0.id != step.id }.last { gives(words: $0) }
      let source = nearest?.id == heard.id ? "" : ", from: \(heard.id)"
      if let retime = retimes.first {
        return
          "\(retime.id) follows \(followed.map(\.name).joined(separator: ", ")) alone, and the "
          + "sound is exported behind \(list): retime: { changes: [\(list)]\(part)\(source) }"
      }
      return "\(step.id) writes words with the times before \(list), and the sound is exported "
        + "behind: put retime: { changes: [\(list)]\(part)\(source) } above \(step.id)"
    }
  }

  /// The steps that move the sound of others; of one that joins several, with the part that theirs is.
  /// The first part of a `concat` stays where it is.
  private func movers(
    in ids: Set<StepID>, behind before: Set<StepID>
  ) -> [(step: StepID, part: Int?)] {
    var sound = before
    return steps.filter { ids.contains($0.id) }.compactMap { step in
      let part = part(of: sound, in: step)
      if part != nil { sound.insert(step.id) }
      if Self.movers.contains(step.descriptor.kind), part != nil { return (step.id, nil) }
      guard step.descriptor.kind == "concat", let part, part > 1 else { return nil }
      return (step.id, part)
    }
  }

  /// The number of the first source of a step's first input that has its sound from other steps, or
  /// from their recordings; nil if none has.
  private func part(of sound: Set<StepID>, in step: BoundStep) -> Int? {
    guard let port = step.descriptor.inputs.first else { return nil }
    let files = recordings(of: sound)
    return step.sources(of: port).firstIndex { source in
      switch source {
      case .step(let above, _): sound.contains(above)
      case .input(let name): files.contains(name)
      }
    }.map { $0 + 1 }
  }

  private func isOfSameSound(_ steps: Set<StepID>, _ others: Set<StepID>) -> Bool {
    !steps.isDisjoint(with: others)
      || !recordings(of: steps).isDisjoint(with: recordings(of: others))
  }

  /// The recordings that steps open.
  private func recordings(of ids: Set<StepID>) -> Set<String> {
    Set(
      ids.compactMap { step($0) }.flatMap(\.sources.values).compactMap { source in
        guard case .input(let name) = source, inputKinds[name] == .sound else { return nil }
        return name
      })
  }

  /// Whether a step gives words of its own.
  private func gives(words step: BoundStep) -> Bool {
    step.descriptor.kind != "retime"
      && step.descriptor.outputs.contains { $0.kind == .transcript }
  }

  /// The steps whose changes a `retime` follows.
  private func changes(of retime: BoundStep) -> [StepID] {
    retime.descriptor.inputs.filter { $0.name.name == "changes" }
      .flatMap { retime.sources(of: $0) }.compactMap {
        if case .step(let id, _) = $0 { id } else { nil }
      }
  }

  /// The step that heard the words of a step, and those that have moved them since; nil if none heard
  /// them.
  private func heard(of step: BoundStep) -> (step: BoundStep, retimes: [BoundStep])? {
    var next = step
    var retimes: [BoundStep] = []
    for _ in steps {
      if next.descriptor.kind == "retime" { retimes.append(next) }
      if next.sources[.sound] != nil { return (next, retimes) }
      guard case .step(let words, _)? = next.sources[PortName("transcript")],
        let maker = self.step(words)
      else { return nil }
      next = maker
    }
    return nil
  }

  /// The first step that all of these lead to; nil if each leads to the next one, or if none is.
  private func joint(ofStretches ids: [StepID]) -> StepID? {
    let isChain = zip(ids, ids.dropFirst()).allSatisfy { before, next in
      step(next).map { stepsAbove($0).contains(before) } ?? false
    }
    return isChain ? nil : steps.first { stepsAbove($0).isSuperset(of: ids) }?.id
  }

  /// All steps that a step has its input from, directly or through others.
  private func stepsAbove(_ step: BoundStep) -> Set<StepID> {
    var above: Set<StepID> = []
    var waiting = [step]
    while let next = waiting.popLast() {
      for case .step(let source, _) in next.sources.values where above.insert(source).inserted {
        if let maker = self.step(source) { waiting.append(maker) }
      }
    }
    return above
  }
}

extension Problem {
  /// The problem as `--json` shows it.
  /// - Parameter path: its file.
  fileprivate func value(in path: String) -> Value {
    .group([
      "file": .text(path),
      "line": location.map { .number(Double($0.line)) } ?? .null,
      "column": location.map { .number(Double($0.column)) } ?? .null,
      "message": .text(message),
      "allowed": allowed.map { .text($0) } ?? .null,
      "suggestion": suggestion.map { .text($0) } ?? .null,
    ])
  }
}
