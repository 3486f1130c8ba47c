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
        guard problems.isEmpty, let plan = try? plan(ofAllInputsOf: pipeline(at: path)) else {
          continue
        }
        for warning in plan.captionsOfOtherSound {
          console.report("warning: " + Format.visible("\(path): \(warning)"))
        }
      } catch {
        console.report(error.text(console))
        code = error.exitCode
      }
    }
    return code
  }

  /// The plan of a pipeline to which every input is given.
  private func plan(ofAllInputsOf pipeline: Pipeline) throws(SpoolError) -> Plan {
    let names = pipeline.definition.inputs.flatMap(\.leastNames)
    return try plan(
      pipeline, inputs: Dictionary(uniqueKeysWithValues: names.map { ($0, "/\($0)") }),
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
  /// Stages that move sound in time, which words follow by `retime` alone.
  private static let movers: Set<String> = ["trim", "cut", "silence", "speed"]

  /// Steps that write words with the times of sound before a cut, where no export is of that sound: a
  /// line each.
  fileprivate var captionsOfOtherSound: [String] {
    let exports = steps.filter { $0.descriptor.kind == "export" }
    return steps.filter { $0.descriptor.kind == "transcript" }.compactMap { step in
      guard let heard = heard(of: step) else { return nil }
      let before = stepsAbove(heard)
      let missing = exports.map { export in
        let above = stepsAbove(export)
        return before.isDisjoint(with: above)
          ? [] : self.movers(in: above.subtracting(before)).map(\.name)
      }
      guard let stages = missing.last, !missing.contains([]) else { return nil }
      let list = stages.joined(separator: ", ")
      return "\(step.id) writes words with the times before \(list), and the sound is exported "
        + "behind: put retime: { changes: [\(list)], from: \(heard.id) } above \(step.id)"
    }
  }

  private func movers(in ids: Set<StepID>) -> [StepID] {
    steps.filter { Self.movers.contains($0.descriptor.kind) && ids.contains($0.id) }.map(\.id)
  }

  /// The step that heard the words of a step; nil if none did, or if `retime` has moved them.
  private func heard(of step: BoundStep) -> BoundStep? {
    var next = step
    for _ in steps {
      if next.descriptor.kind == "retime" { return nil }
      if next.sources[.sound] != nil { return next }
      guard case .step(let words, _)? = next.sources[PortName("transcript")],
        let maker = self.step(words)
      else { return nil }
      next = maker
    }
    return nil
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
