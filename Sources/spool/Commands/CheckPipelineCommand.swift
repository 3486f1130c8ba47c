import Arguments
import PipelineFile
import PipelineModel

/// `spool check-pipeline`: every problem of a pipeline at once.
struct CheckPipelineCommand: Command {
  private static let files = Positional<[String]>.repeated(
    "PIPELINE", help: "The pipelines' files.", completion: .files(extensions: ["yaml", "yml"]))

  static let declaration = CommandDeclaration(
    name: "check-pipeline", group: "Pipelines",
    summary: "Report every problem of a pipeline, each with its place and what is allowed.",
    positionals: [files], options: [Options.plugins, Options.json],
    examples: [Example("Check all pipelines", "spool check-pipeline Pipelines/*.yaml")])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console, plugins: arguments[Options.plugins])
    var code = ExitCode.done
    for path in arguments[Self.files] {
      do throws(Workbench.Refusal) {
        let (problems, text) = try bench.problems(at: path)
        if arguments[Options.json] {
          for problem in problems { console.print(problem.value(in: path).canonicalJSON) }
        } else if problems.isEmpty {
          console.print("\(Format.visible(path)): no problems")
        } else {
          throw bench.refusal(problems, in: text, at: path)
        }
        if !problems.isEmpty { code = .usage }
      } catch {
        console.report(error.text)
        code = error.code
      }
    }
    return code
  }
}
