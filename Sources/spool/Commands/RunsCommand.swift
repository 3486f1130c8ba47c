import PipelineModel
import Platform
import Store

/// `spool runs`: what was run, newest first.
struct RunsCommand: Command {
  private static let limit = Option<Int>.value(
    "limit", "N", short: "n", default: 20, help: "Show so many; 0 shows all.")

  static let declaration = CommandDeclaration(
    name: "runs", group: "History",
    summary: "List the runs, newest first.",
    options: [limit, Options.store, Options.json])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let context = CommandContext(console: console)
    let store = try context.existing(at: arguments[Options.store])
    let limit = arguments[Self.limit]
    guard limit >= 0 else {
      throw .usage("--limit is 0 or more, not \(limit)", advice: "0 shows all")
    }
    let runs = try store.runs.newest(limit: limit == 0 ? .max : limit)
    guard !arguments[Options.json] else {
      for run in runs { console.print(JSONText.of(run)) }
      return .done
    }
    console.print(runs.isEmpty ? Format.visible(context.noRuns(in: store)) : text(runs))
    if let run = RunRecord.unsettled(in: runs).first(where: { $0.wayOn != nil }),
      let wayOn = run.wayOn
    {
      let first = run.state == .paused ? "free some space; then " : ""
      let missing = MissingRecording(of: run, beside: runs, store: arguments[Options.store])
      let way = missing?.line ?? "\(first)\(wayOn) goes on with the newest that is not done"
      console.report("next:  \(Format.visible(way))")
    }
    return .done
  }

  private func text(_ runs: [RunRecord]) -> String {
    let width = (runs.map(\.pipeline.count).max() ?? 0) + 2
    let standingWidth = max(12, (runs.map(\.status.count).max() ?? 0) + 2)
    return runs.map { run in
      let files = run.inputs.values.sorted().map { $0.split(separator: "/").last ?? "" }
      let time = run.seconds.map { Format.duration($0) } ?? ""
      return "\(run.id)  \(Format.time(run.startedAt))  \(Format.pad(run.status, standingWidth))"
        + "\(Format.padLeft(time, 12))  \(Format.pad(run.pipeline, width))"
        + Format.visible(files.joined(separator: ", "))
    }.joined(separator: "\n")
  }
}
