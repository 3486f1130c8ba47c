import PipelineModel
import Platform
import Store

extension Command {
  /// `spool runs`: what was run, newest first.
  static let runs = Command(
    name: "runs", group: "History",
    summary: "List the runs, newest first.",
    options: [Options.limit, Options.store, Options.json],
    perform: CommandContext.listRuns)
}

extension Options {
  fileprivate static let limit = Option<Int>.value(
    "limit", "N", short: "n", default: 20, help: "Show so many; 0 shows all.")
}

extension CommandContext {
  fileprivate func listRuns() throws(SpoolError) -> ExitCode {
    let store = try existingStore()
    let runs = try store.runs.newest(limit: limit(Options.limit, all: "shows"))
    answer(list: runs, runs.isEmpty ? Format.visible(noRuns(in: store)) : text(runs))
    if !isJSON, let run = RunRecord.unsettled(in: runs).first(where: { $0.wayOn != nil }),
      let wayOn = run.wayOn
    {
      let first = run.state == .paused ? "free some space; then " : ""
      let missing = MissingRecording(of: run, in: store, option: arguments[Options.store])
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
