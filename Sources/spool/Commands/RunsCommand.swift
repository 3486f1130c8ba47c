import Arguments
import PipelineModel
import Store

/// `spool runs`: what was run, newest first.
struct RunsCommand: Command {
  private static let limit = Option<Int>.value(
    "limit", "N", short: "n", default: 20, help: "Show so many; 0 shows all.")

  static let declaration = CommandDeclaration(
    name: "runs", group: "History",
    summary: "List the runs, newest first.",
    options: [limit, Options.store, Options.json])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    do throws(Workbench.Refusal) {
      let bench = Workbench(console: console)
      let readable = try bench.existingStore(at: arguments[Options.store])
      defer { withExtendedLifetime(readable) {} }
      let limit = arguments[Self.limit]
      guard limit >= 0 else {
        throw Workbench.Refusal(
          text: "\(console.red("error:")) --limit is 0 or more, not \(limit)\nnext:  0 shows all",
          code: .usage)
      }
      let runs = try bench.runs(limit: limit == 0 ? .max : limit, in: readable.store)
      if arguments[Options.json] {
        for run in runs { console.print(JSONText.of(run)) }
      } else {
        console.print(runs.isEmpty ? bench.noRuns(in: readable.store) : text(runs))
        if let run = unfinished(runs), let wayOn = run.wayOn {
          let first = run.state == .paused ? "free some space; then " : ""
          let way = "\(first)\(wayOn) goes on with the newest that is not done"
          let missing = MissingRecording(
            of: run, beside: runs, store: arguments[Options.store])
          console.report("next:  \(Format.visible(missing?.line ?? way))")
        }
      }
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  /// The newest run that is worth going on with.
  private func unfinished(_ runs: [RunRecord]) -> RunRecord? {
    RunRecord.unsettled(in: runs).first { $0.wayOn != nil }
  }

  private func text(_ runs: [RunRecord]) -> String {
    let width = (runs.map(\.pipeline.count).max() ?? 0) + 2
    let standingWidth = max(12, (runs.map(\.standing.count).max() ?? 0) + 2)
    return runs.map { run in
      let files = run.inputs.values.sorted().map { $0.split(separator: "/").last ?? "" }
      let time = run.seconds.map { Format.duration($0) } ?? ""
      return "\(run.id)  \(Format.time(run.startedAt))  \(Format.pad(run.standing, standingWidth))"
        + "\(Format.padLeft(time, 12))  \(Format.pad(run.pipeline, width))"
        + Format.visible(files.joined(separator: ", "))
    }.joined(separator: "\n")
  }
}
