import PipelineEngine
import PipelineModel
import Platform
import Receipts
import Search
import Store

/// `spool gc`: deletes data that no run needs.
struct GCCommand: Command {
  private static let olderThan = Option<Age?>.value(
    "older-than", "AGE", help: "Free what only runs older than this need.",
    defaultText: "30d; with --keep-size or --sound, any age")
  private static let keepSize = Option<ByteSize?>.value(
    "keep-size", "SIZE",
    help: "Free what the least recent runs need until no more than this is left.")
  private static let sound = Option<Bool>.flag(
    "sound",
    help: "Free only sound kept between the stages, which is computed again when it is wanted.")
  private static let grace = Option<Age?>.value(
    "grace", "AGE", help: "Leave alone what was wanted or written so lately.", defaultText: "1h")
  private static let dryRun = Option<Bool>.flag(
    "dry-run", short: "n", help: "Only tell what would go.")
  private static let pin = Option<[String]>.values(
    "pin", "RUN", help: "Keep all that a run needs, until it is unpinned; last for the newest.")
  private static let unpin = Option<[String]>.values(
    "unpin", "RUN", help: "Let a run go like any other.")

  private static let drop = Option<[String]>.values(
    "drop", "RUN", help: "Give up a run that was cut off, stopped or paused: it holds nothing more."
  )

  static let declaration = CommandDeclaration(
    name: "gc", group: "Store",
    summary: "Free the room of what nobody needs any more.",
    discussion: """
      What no run of the last 30 days needs goes: files in the store, and the checkpoints that name \
      them. Recordings, exports and the list of runs stay. What went is made again if it is ever \
      wanted. A run that was cut off, stopped or paused keeps what it needs until it is done, run again \
      or dropped. --pin, --unpin and --drop do only that; a second call frees what they let go.

      It may be called while other spools work in the store: what they use is left alone, and so is \
      whatever was wanted within the last hour, because somebody who has just looked for it counts \
      on finding it. Where nobody else works in the store, --grace 0s needs no such care.

      It works on a disk that is full to the last byte: a file of 1 MB, ballast, lies in the store \
      for that, is given up first and made again afterwards.
      """,
    options: [
      olderThan, keepSize, sound, grace, pin, unpin, drop, dryRun, Options.store, Options.json,
    ],
    examples: [
      Example("What would go", "spool gc --dry-run"),
      Example("Free all that can be made again", "spool gc --older-than 0s --grace 0s"),
      Example("Keep at most 20 GB", "spool gc --keep-size 20GB"),
      Example("Keep one run for good", "spool gc --pin 20261121-142205"),
    ])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let context = CommandContext(console: console)
    try checkTogether()
    if arguments[Self.dryRun] {
      // It works on a read-only or full disk, too.
      let readable = try context.readableStore(at: arguments[Options.store])
      defer { withExtendedLifetime(readable) {} }
      tell(try readable.store.collect(policy, isDryRun: true), console)
      return .done
    }
    return try context.freeing(arguments[Options.store]) { (store) throws(SpoolError) in
      let (pins, unpins) = (arguments[Self.pin], arguments[Self.unpin])
      let drops = arguments[Self.drop]
      for name in pins {
        try report(try store.runs.pin(fullName(name, store)), name, "pinned", console)
      }
      for name in unpins {
        try report(try store.runs.unpin(fullName(name, store)), name, "unpinned", console)
      }
      for name in drops {
        try report(try store.runs.drop(fullName(name, store)), name, "dropped", console)
      }
      if pins.isEmpty, unpins.isEmpty, drops.isEmpty {
        tell(try store.collect(policy), console)
        WordSearch(store).prune()
      }
      return .done
    }
  }

  private var policy: CollectionPolicy {
    var policy = CollectionPolicy()
    policy.age = arguments[Self.olderThan]?.seconds
    policy.keptBytes = arguments[Self.keepSize]?.byteCount
    if let grace = arguments[Self.grace] { policy.grace = grace.seconds }
    policy.isSoundOnly = arguments[Self.sound]
    return policy
  }

  private func tell(_ report: CollectionReport, _ console: Console) {
    console.print(arguments[Options.json] ? JSONText.of(report) : text(report))
  }

  /// Rejects options for freeing together with `--pin`, `--unpin` or `--drop`, which free nothing.
  private func checkTogether() throws(SpoolError) {
    let naming = [
      ("--pin", arguments[Self.pin]), ("--unpin", arguments[Self.unpin]),
      ("--drop", arguments[Self.drop]),
    ].filter { !$0.1.isEmpty }.map(\.0)
    let freeing = [
      ("--older-than", arguments[Self.olderThan] != nil),
      ("--keep-size", arguments[Self.keepSize] != nil), ("--sound", arguments[Self.sound]),
      ("--grace", arguments[Self.grace] != nil), ("--dry-run", arguments[Self.dryRun]),
    ].filter(\.1).map(\.0)
    guard let first = naming.first, !freeing.isEmpty else { return }
    let (some, others) = (naming.joined(separator: ", "), freeing.joined(separator: ", "))
    throw .usage(
      "\(some) cannot be combined with \(others)", reason: "\(first) frees nothing by itself",
      advice: "call spool gc twice: first with \(some), then with \(others)")
  }

  /// Resolves a run name; `last` is the newest run.
  private func fullName(_ name: String, _ store: DiskStore) throws(SpoolError) -> String {
    guard name == "last" else { return name }
    return try store.runs.newest(limit: 1).first?.id.name ?? name
  }

  private func report(
    _ run: RunRecord?, _ name: String, _ what: String, _ console: Console
  ) throws(SpoolError) {
    guard let run else {
      throw SpoolError(
        "find the run", name, reason: "there is none of that name",
        advice: "spool runs lists them")
    }
    console.print(
      arguments[Options.json]
        ? JSONText.of(["run": run.id.name, "state": what]) : "\(what) \(run.id.name)")
  }

  private func text(_ report: CollectionReport) -> String {
    var lines: [String] = []
    if report.isDryRun {
      for file in report.files + report.unfinished {
        let size = Format.padLeft(ByteCount(file.byteCount).description, 9)
        lines.append("\(size)  \(file.path)")
      }
    }
    let kept = "\(ByteCount(report.keptBytes)) \(report.isDryRun ? "would be" : "are") left"
    let recent =
      report.recentBytes == 0
      ? "" : ", \(ByteCount(report.recentBytes)) of it wanted too lately (--grace)"
    let held =
      report.held == 0
      ? "" : ", \(Count.of(report.held, "unfinished run")) kept (--drop RUN gives one up)"
    let pins =
      recent + held + (report.pinned == 0 ? "" : ", \(Count.of(report.pinned, "run")) pinned")
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
