import Intake
import PipelineModel
import Platform
import Store

extension Command {
  /// `spool runs list`: what was run, newest first.
  static let runs = Command(
    name: "runs list", group: "Work",
    summary: "List the runs, newest first.",
    discussion: """
      Lists the newest 20, and with --json all, unless --limit says how many.
      """,
    options: [Options.limit, Options.store, Options.json],
    examples: [Example("The last hundred", "spool runs --limit 100")],
    perform: CommandContext.listRuns)

  /// `spool runs forget`: gives up runs that are not done.
  static let forgetRuns = Command(
    name: "runs forget", group: "Work",
    summary: "Give up runs that failed, were cut off, stopped or paused.",
    discussion: """
      spool status and a spool resume without a name leave them out from then on, and what only they \
      needed is freed by the next spool store gc, an hour after its last use: --grace 0s frees it at \
      once. Earlier attempts that a run resumed are given up with it. They stay in the list, and no \
      export changes.
      """,
    positionals: [Options.forgotten],
    options: [Options.failed, Options.olderThan, Options.store, Options.json],
    examples: [
      Example("Give up one run", "spool runs forget 20261121-142205"),
      Example("Clear what failed before this week", "spool runs forget --failed --older-than 7d"),
    ],
    perform: CommandContext.forgetRuns)
}

extension Options {
  fileprivate static let limit = Option<Int?>.value(
    "limit", "N", short: "n", help: "Show so many; 0 shows all.",
    defaultText: "20; with --json, all")
  fileprivate static let forgotten = Positional<[String]>.repeated(
    "RUN", minimum: 0,
    help: "The runs' names, or their beginnings; last for the newest that began.",
    completion: NameKind.runs.hint())
  fileprivate static let failed = Option<Bool>.flag("failed", help: "All runs that failed.")
  fileprivate static let olderThan = Option<Age?>.value(
    "older-than", "AGE", help: "With --failed: only runs that began longer ago.",
    defaultText: "any age")
}

extension CommandContext {
  fileprivate func listRuns() throws(SpoolError) -> ExitCode {
    let store = try existingStore()
    let (runs, note) = try newest(Options.limit, otherwise: 20, all: "shows") {
      (limit) throws(SpoolError) in try store.runs.newest(limit: limit)
    }
    var lines: [JSONLine] = []
    for run in isJSON ? runs : [] { lines.append(run.line(of: try store.inboxRecording(of: run))) }
    let text = try text(runs, in: store)
    answer(list: lines, runs.isEmpty ? Format.visible(noRuns(in: store)) : text)
    note.map(console.report)
    if !isJSON { try offerToGoOn(in: store) }
    return .done
  }

  /// Offers what resumes the newest run that is not done. A watch resumes its own runs,
  /// but not recordings that wait for a person.
  private func offerToGoOn(in store: DiskStore) throws(SpoolError) {
    let option = namedStore
    let open = try store.runs.open()
    let unfinished = open.filter { $0.wayOn != nil && !store.isOfInbox($0) }
    for (index, run) in unfinished.enumerated() {
      if let missing = MissingRecording(of: run, in: store, option: option) {
        if index == 0 { console.report("note: \(Format.visible(missing.line))") }
        continue
      }
      let first = run.state == .paused ? "; free some space first" : ""
      console.report("note: \(run.id) is the newest that can go on\(first)")
      return console.offer(
        NextCommand(StoreOption(option).completing(run.wayOn ?? "")).map { [$0] } ?? [])
    }
    guard unfinished.isEmpty else { return }
    for run in open {
      guard let recording = try store.inboxRecording(of: run), recording.state == .failed,
        recording.nextAttempt == nil, let command = recording.nextCommands.first
      else { continue }
      let name = Format.visible(recording.fileName)
      console.report("note: \(run.id) is of \(name), which an inbox took in, and failed")
      return console.offer(
        NextCommand(StoreOption(option).completing(command)).map { [$0] } ?? [])
    }
  }

  fileprivate func forgetRuns() throws(SpoolError) -> ExitCode {
    let names = arguments[Options.forgotten]
    guard arguments[Options.failed] != !names.isEmpty else {
      throw .usage(
        names.isEmpty ? "no run is named" : "--failed and names of runs exclude each other",
        advice: "spool runs forget RUN, or spool runs forget --failed")
    }
    if arguments[Options.olderThan] != nil, !names.isEmpty {
      throw .usage(
        "--older-than needs --failed", advice: "spool runs forget --failed --older-than 7d")
    }
    try requireStore()
    return try freeing { (store) throws(SpoolError) in
      guard names.isEmpty else { return try forget(names, in: store) }
      let end = SystemClock().now - (arguments[Options.olderThan]?.seconds ?? 0)
      let runs = try store.runs.forgetFailures(before: end)
      let text = try text(runs, in: store)
      answer(list: runs.map(\.line), runs.isEmpty ? "no failed run to forget" : text)
      return .done
    }
  }

  /// Gives up the runs of these names, each once; nothing changes if one of them is unknown.
  private func forget(_ names: [String], in store: DiskStore) throws(SpoolError) -> ExitCode {
    var runs: [RunRecord] = []
    for name in names {
      let run = try run(named: name, in: store)
      if !runs.contains(where: { $0.id == run.id }) { runs.append(run) }
    }
    for run in runs {
      _ = try store.runs.drop(run.id.name)
      answer(["run": run.id.name, "state": "dropped"], "dropped \(run.id.name)")
    }
    return .done
  }

  private func text(_ runs: [RunRecord], in store: DiskStore) throws(SpoolError) -> String {
    let width = (runs.map(\.pipeline.count).max() ?? 0) + 2
    let standingWidth = max(12, (runs.map(\.status.count).max() ?? 0) + 2)
    let paths = runs.flatMap(\.inputPaths).filter { !store.isOfInbox($0) }
    let names = FilePath.shortNames(of: paths)
    return try runs.map { (run) throws(SpoolError) in
      let files = try run.orderedInputs.map { (name, path) throws(SpoolError) in
        if let short = names[path] { return short }
        return try store.shownName(of: path, run.recordings?[name], in: run)
      }
      let time = run.seconds.map { Format.duration($0) } ?? ""
      return "\(run.id)  \(Format.time(run.startedAt))  \(Format.pad(run.status, standingWidth))"
        + "\(Format.padLeft(time, 12))  \(Format.pad(run.pipeline, width))"
        + Format.visible(files.joined(separator: ", "))
    }.joined(separator: "\n")
  }
}
