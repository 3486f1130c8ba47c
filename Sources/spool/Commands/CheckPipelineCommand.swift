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
    "PIPELINE", help: "The pipelines' files.",
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
      } catch {
        console.report(error.text(console))
        code = error.exitCode
      }
    }
    return code
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
