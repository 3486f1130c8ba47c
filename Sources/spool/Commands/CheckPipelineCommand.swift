import PipelineModel
import Platform

/// `spool check-pipeline`: every problem of a pipeline at once.
struct CheckPipelineCommand: Command {
  private static let files = Positional<[String]>.repeated(
    "PIPELINE", help: "The pipelines' files.", completion: .files(extensions: ["yaml", "yml"]))

  static let declaration = CommandDeclaration(
    name: "check-pipeline", group: "Pipelines",
    summary: "Report every problem of a pipeline, each with its place and what is allowed.",
    positionals: [files], options: [Options.plugins, Options.json],
    examples: [Example("Check all pipelines", "spool check-pipeline Pipelines/*.yaml")])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let context = CommandContext(console: console, plugins: arguments[Options.plugins])
    var code = ExitCode.done
    for path in arguments[Self.files] {
      do throws(SpoolError) {
        let (problems, text) = try context.problems(at: path)
        if arguments[Options.json] {
          for problem in problems { console.print(problem.value(in: path).canonicalJSON) }
          if !problems.isEmpty { code = .usage }
        } else if problems.isEmpty {
          console.print("\(Format.visible(path)): no problems")
        } else {
          throw context.refusal(problems, in: text, at: path)
        }
      } catch {
        console.report(error.text(console))
        code = error.exitCode
      }
    }
    return code
  }
}

extension Problem {
  /// The problem as `--json` shows it.
  /// - Parameter path: its file.
  func value(in path: String) -> Value {
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
