import Arguments
import PipelineModel
import Store

/// `spool runs`: what was run, newest first.
struct RunsCommand: Command {
  private static let limit = Option<Int>.value(
    "limit", "N", short: "n", default: 20, help: "Show so many.")

  static let declaration = CommandDeclaration(
    name: "runs", group: "History",
    summary: "List the runs, newest first.",
    options: [limit, Options.store, Options.json])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    do throws(Workbench.Refusal) {
      let readable = try Workbench(console: console).readableStore(at: arguments[Options.store])
      let store = readable.store
      let runs: [RunRecord]
      do throws(StoreError) {
        runs = try store.runs(limit: max(1, arguments[Self.limit]))
      } catch {
        throw Workbench.Refusal(text: ErrorText(StageError(error)).render(console), code: .failed)
      }
      if arguments[Options.json] {
        for run in runs { console.print(JSONText.of(run)) }
      } else {
        console.print(text(runs))
      }
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  private func text(_ runs: [RunRecord]) -> String {
    guard !runs.isEmpty else { return "no runs yet" }
    let width = (runs.map(\.pipeline.count).max() ?? 0) + 2
    return runs.map { run in
      let files = run.inputs.values.sorted().map { $0.split(separator: "/").last ?? "" }
      let time = run.finishedAt.map { Format.duration($0 - run.startedAt) } ?? ""
      return "\(run.id)  \(Format.time(run.startedAt))  \(Format.pad(run.state.rawValue, 12))"
        + "\(Format.padLeft(time, 12))  \(Format.pad(run.pipeline, width))"
        + files.joined(separator: ", ")
    }.joined(separator: "\n")
  }
}
