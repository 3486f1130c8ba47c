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
          warnings += found.map { "\($0) \($1)" }.filter { !warnings.contains($0) }
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
