import PipelineEngine
import PipelineModel
import Platform
import Receipts
import Store

extension Command {
  /// `spool store gc`: deletes data that no run needs.
  static let gc = Command(
    name: "store gc", group: "Care",
    summary: "Free the room of what nobody needs any more.",
    discussion: """
      What no run of the last 30 days needs goes: sound and other files in the store, and the \
      checkpoints that name them. What went is made again if it is ever wanted. Words and receipts \
      stay, whatever their age and size, and so do recordings, exports and the list of runs: what \
      was said is found by spool search after its sound is gone. A run that was cut off, stopped or \
      paused keeps what it needs until it is done, run again or given up with spool runs forget. \
      --pin and --unpin do only that; a second call frees what is no longer kept.

      It also runs by itself at the end of spool run and spool batch, at most once a day, and once \
      a day in spool watch. The settings' file says how long things are kept, and \
      "retention: { auto: false }" in it turns that off; --older-than and --keep-size go before it. \
      The recordings that an inbox stored stay until spool inbox forget gives one up. Where the \
      database was lost with its change log and its backups, nothing says which files are recordings: \
      those without a record stay, unless --unrecorded is given.

      It may be called while other spools work in the store: what they use is left alone, and so is \
      whatever was wanted within the last hour, because somebody who has just looked for it counts \
      on finding it. Where nobody else works in the store, --grace 0s needs no such care.

      It works on a disk that is full to the last byte: a file of 1 MB, ballast, lies in the store \
      for that, is given up first and made again afterwards.
      """,
    options: [
      Options.olderThan, Options.keepSize, Options.sound, Options.unrecorded, Options.grace,
      Options.pin, Options.unpin, Options.dryRun, Options.verbose, Options.settings, Options.store,
      Options.json,
    ],
    examples: [
      Example("What would go", "spool store gc --dry-run"),
      Example("Free all that can be made again", "spool store gc --older-than 0s --grace 0s"),
      Example("Keep at most 20 GB", "spool store gc --keep-size 20GB"),
      Example("Keep one run for good", "spool store gc --pin 20261121-142205"),
    ],
    perform: CommandContext.collectGarbage)
}

extension Options {
  fileprivate static let olderThan = Option<Age?>.value(
    "older-than", "AGE", help: "Free what only runs older than this need.",
    defaultText: "30d; with --keep-size or --sound, any age")
  fileprivate static let keepSize = Option<ByteSize?>.value(
    "keep-size", "SIZE",
    help: "Free what the least recent runs need until no more than this is left.")
  fileprivate static let sound = Option<Bool>.flag(
    "sound",
    help: "Free only sound kept between the stages, which is computed again when it is wanted.")
  fileprivate static let unrecorded = Option<Bool>.flag(
    "unrecorded",
    help: "Free files too whose records were lost with the database, recordings among them.")
  fileprivate static let grace = Option<Age?>.value(
    "grace", "AGE", help: "Leave alone what was wanted or written so lately.", defaultText: "1h")
  fileprivate static let dryRun = Option<Bool>.flag(
    "dry-run", short: "n", help: "Only tell how much would go, by kind and by recording.")
  fileprivate static let verbose = Option<Bool>.flag(
    "verbose", short: "v", help: "Name every file too, as --json does.")
  fileprivate static let pin = Option<[String]>.values(
    "pin", "RUN",
    help: "Keep all that a run needs, until it is unpinned; last for the newest that began.",
    completion: NameKind.runs.hint())
  fileprivate static let unpin = Option<[String]>.values(
    "unpin", "RUN", help: "Let a run go like any other.",
    completion: NameKind.runs.hint())
}

extension CommandContext {
  fileprivate func collectGarbage() throws(SpoolError) -> ExitCode {
    try checkTogether()
    try requireStore()
    if arguments[Options.dryRun] {
      // It works on a read-only or full disk, too.
      tell(try existingStore().collect(policy(), isDryRun: true))
      return .done
    }
    return try freeing { (store) throws(SpoolError) in
      for name in arguments[Options.pin] {
        try report(store.runs.pin(run(named: name, in: store).id.name), "pinned")
      }
      for name in arguments[Options.unpin] {
        try report(store.runs.unpin(run(named: name, in: store).id.name), "unpinned")
      }
      if [Options.pin, Options.unpin].allSatisfy({ arguments[$0].isEmpty }) {
        tell(try store.collect(policy()))
      }
      return .done
    }
  }

  private func policy() throws(SpoolError) -> CollectionPolicy {
    var policy = CollectionPolicy()
    policy.age = arguments[Options.olderThan]?.seconds
    policy.keptBytes = arguments[Options.keepSize]?.byteCount
    if policy.age == nil, policy.keptBytes == nil, !arguments[Options.sound] {
      policy = CollectionPolicy(try settings(named: arguments[Options.settings]))
    }
    if let grace = arguments[Options.grace] { policy.grace = grace.seconds }
    policy.isSoundOnly = arguments[Options.sound]
    policy.includesUnrecorded = arguments[Options.unrecorded]
    return policy
  }

  private func tell(_ report: CollectionReport) {
    answer(report, text(report))
  }

  /// Rejects options for freeing together with `--pin` or `--unpin`, which free nothing.
  private func checkTogether() throws(SpoolError) {
    let naming = [
      ("--pin", arguments[Options.pin]), ("--unpin", arguments[Options.unpin]),
    ].filter { !$0.1.isEmpty }.map(\.0)
    let freeing = [
      ("--older-than", arguments[Options.olderThan] != nil),
      ("--keep-size", arguments[Options.keepSize] != nil), ("--sound", arguments[Options.sound]),
      ("--unrecorded", arguments[Options.unrecorded]),
      ("--grace", arguments[Options.grace] != nil), ("--dry-run", arguments[Options.dryRun]),
    ].filter(\.1).map(\.0)
    guard let first = naming.first, !freeing.isEmpty else { return }
    let (some, others) = (naming.joined(separator: ", "), freeing.joined(separator: ", "))
    throw .usage(
      "\(some) cannot be combined with \(others)", reason: "\(first) frees nothing by itself",
      advice: "call spool store gc twice: first with \(some), then with \(others)")
  }

  private func report(_ run: RunRecord?, _ what: String) {
    guard let run else { return }
    answer(["run": run.id.name, "state": what], "\(what) \(run.id.name)")
  }

  private func text(_ report: CollectionReport) -> String {
    var lines: [String] = []
    let files = report.files + report.unfinished
    if report.isDryRun, !files.isEmpty {
      lines = ShareTable.lines(
        kinds: StoreContents.shares(files.lazy.map { ($0.kind.rawValue, $0.byteCount) }),
        recordings: StoreContents.shares(
          files.lazy.compactMap { file in file.recording.map { ($0, file.byteCount) } }))
    }
    if arguments[Options.verbose] {
      lines += files.sorted { $0.byteCount > $1.byteCount }.map { file in
        Format.visible(
          "\(Format.padLeft(ByteCount(file.byteCount).description, 9))  \(file.path)")
      }
    }
    let kept = "\(ByteCount(report.keptBytes)) \(report.isDryRun ? "would be" : "are") left"
    let recentBytes = report.recentBytes - report.runningBytes
    let recent =
      (recentBytes == 0 ? "" : ", \(ByteCount(recentBytes)) of it wanted too lately (--grace)")
      + (report.runningBytes == 0
        ? "" : ", \(ByteCount(report.runningBytes)) of it in use by a run that goes on")
    let unrecorded =
      report.unrecordedBytes == 0
      ? ""
      : ", \(ByteCount(report.unrecordedBytes)) of it with lost records (--unrecorded)"
    let held =
      report.held == 0
      ? ""
      : ", \(Count.of(report.held, "unfinished run")) kept (spool runs forget RUN gives one up)"
    let pins =
      recent + unrecorded + held
      + (report.pinned == 0 ? "" : ", \(Count.of(report.pinned, "run")) pinned")
    guard !report.files.isEmpty || !report.unfinished.isEmpty || report.checkpoints > 0 else {
      return "nothing to free; \(kept)\(pins)"
    }
    lines.append(
      "\(report.isDryRun ? "would free" : "freed") \(ByteCount(report.freedBytes)): "
        + "\(Count.of(report.files.count, "file")) and "
        + "\(Count.of(report.checkpoints, "checkpoint")) of \(Count.of(report.runs, "run")); "
        + "\(kept)\(pins)")
    if !report.unfinished.isEmpty {
      lines[lines.count - 1] += ", \(Count.of(report.unfinished.count, "unfinished pass"))"
    }
    return lines.joined(separator: "\n")
  }
}

/// An amount of data: `20GB`, `500 MB`, `1.5 GiB`.
struct ByteSize: ArgumentValue {
  let byteCount: Int
  let argument: String

  static let expectation = "a size like 500MB or 20GB"

  init?(argument: String) {
    guard let (number, unit) = numberAndUnit(argument) else { return nil }
    let factors: [String: Double] = [
      "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 0x1p10, "mib": 0x1p20,
      "gib": 0x1p30, "tib": 0x1p40,
    ]
    guard let factor = factors[unit.lowercased()],
      let count = Int(exactly: (number * factor).rounded())
    else { return nil }
    byteCount = count
    self.argument = argument
  }
}
