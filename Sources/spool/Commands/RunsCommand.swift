import PipelineModel
import Platform
import Store

extension Command {
  /// `spool runs`: what was run, newest first.
  static let runs = Command(
    name: "runs", group: "History",
    summary: "List the runs, newest first.",
    discussion: """
      With --forget-failed, failures are dropped: spool status and a spool resume without a name leave \
      them out. Nothing else changes; they stay in this list.
      """,
    options: [
      Options.limit, Options.forgetFailed, Options.olderThan, Options.store, Options.json,
    ],
    examples: [
      Example("Clear what failed before this week", "spool runs --forget-failed --older-than 7d")
    ],
    perform: CommandContext.listRuns)
}

extension Options {
  fileprivate static let limit = Option<Int>.value(
    "limit", "N", short: "n", default: 20, help: "Show so many; 0 shows all.")
  fileprivate static let forgetFailed = Option<Bool>.flag(
    "forget-failed", help: "Clear the failed runs from spool status, and list them.")
  fileprivate static let olderThan = Option<Age?>.value(
    "older-than", "AGE", help: "With --forget-failed: only runs that began longer ago.",
    defaultText: "any age")
}

extension CommandContext {
  fileprivate func listRuns() throws(SpoolError) -> ExitCode {
    if arguments[Options.forgetFailed] { return try forgetFailures() }
    guard arguments[Options.olderThan] == nil else {
      throw .usage("--older-than needs --forget-failed", advice: "add --forget-failed")
    }
    let store = try existingStore()
    let runs = try store.runs.newest(limit: limit(Options.limit, all: "shows"))
    answer(list: runs, runs.isEmpty ? Format.visible(noRuns(in: store)) : text(runs))
    if !isJSON, let run = try store.runs.open().first(where: { $0.wayOn != nil }),
      let wayOn = run.wayOn
    {
      let first = run.state == .paused ? "free some space; then " : ""
      let missing = MissingRecording(of: run, in: store, option: arguments[Options.store])
      let way = missing?.line ?? "\(first)\(wayOn) goes on with the newest that is not done"
      console.report("next:  \(Format.visible(way))")
    }
    return .done
  }

  private func forgetFailures() throws(SpoolError) -> ExitCode {
    try requireStore()
    let end = SystemClock().now - (arguments[Options.olderThan]?.seconds ?? 0)
    let runs = try openStore().runs.forgetFailures(before: end)
    answer(list: runs, runs.isEmpty ? "no failed run to forget" : text(runs))
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
