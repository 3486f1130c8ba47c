import Intake
import Media
import PipelineModel
import Platform
import Proof
import Receipts
import Search
import Stages
import Store

extension Command {
  /// `spool store repair`: repairs a damaged store.
  static let repair = Command(
    name: "store repair", group: "Care",
    summary: "Put a damaged store right.",
    discussion: """
      Damaged files are set aside in the store's folder damaged and struck from their checkpoints, so \
      that they are made again when they are needed; those that nothing can make again stay there. A lost or damaged database is made again from the newest good backup and the \
      records that lie beside it; the damaged one is kept. So is the index of words, from the \
      transcripts. Words that are lost are named, with the command that finds them again. A ledger of receipts that somebody changed is put back as it was signed last, where \
      the database or the log beside it still has that. Recordings and exports are not touched. What \
      could not be put right is listed, and the exit code is 4.

      No other spool may work in the store meanwhile. --dry-run only looks: others may work, and \
      the store may lie on a disk that may only be read.
      """,
    options: [Options.dryRun, Options.keys, Options.store, Options.json],
    examples: [Example("Only tell what would be done", "spool store repair --dry-run")],
    perform: CommandContext.repairStore)
}

extension Options {
  fileprivate static let dryRun = Option<Bool>.flag(
    "dry-run", short: "n", help: "Only tell what would be done.")
}

extension CommandContext {
  fileprivate func repairStore() throws(SpoolError) -> ExitCode {
    let stop = console.heed(SignalWatch.begin())
    let meter = readingMeter()
    let path = storePath
    try requireStore()
    let keys = try keyFolder().knownKeys()
    do throws(SpoolError) {
      let repair = Repair(
        of: path, .withFaultsOfEncodings, isDryRun: arguments[Options.dryRun], stop: stop
      ) { meter.show($0) }
      var report = try repair.run()
      meter.clear()
      let lost = try mendLists(of: path, keys, &report)
      answer(
        JSONLine(report, adding: ["left": report.left, "lostWords": lost.map(\.line)]),
        text(report, lost))
      return report.left.isEmpty ? .done : .verificationFailed
    } catch {
      meter.clear()
      if let signal = stop.signalNumber { return .interrupted(by: signal) }
      throw error
    }
  }

  /// Repairs the search index and the transparency log, which requires an open database.
  /// - Returns: the words that are lost, and the commands that find them again.
  private func mendLists(
    of path: String, _ keys: [VerifyingKey], _ report: inout RepairReport
  ) throws(SpoolError) -> [Loss] {
    let isDryRun = arguments[Options.dryRun]
    if isDryRun, report.findings.contains(where: { $0.kind == .database }) { return [] }
    let store = try isDryRun ? DiskStore(reading: path) : DiskStore(at: path)
    if !isDryRun, let done = try WordSearch(store).repair() {
      report.add([], done: [RepairAction(what: done.what, path: done.path)])
    }
    let audit = LogAudit(try store.receipts.records(), keys: keys)
    if !isDryRun, let recovery = audit.recovery {
      try store.receipts.restore(recovery.entries, under: recovery.head)
    }
    let left =
      isDryRun ? [] : try LogAudit(try store.receipts.records(), keys: keys).damage(in: store)
    // What a changed ledger still lacks shows only once it is put back.
    let found =
      try isDryRun && audit.findings.isEmpty ? audit.damage(in: store) : audit.inspectionFindings
    report.add(found, done: audit.repairActions, remaining: left.filter(\.isDamage))
    if isDryRun { return [] }
    let option = namedStore
    return try WordSearch(store).lost().map { words in
      Loss(
        line: JSONLine([
          "recording": words.recording, "run": words.run,
          "command": words.command(in: store, option: option),
        ]), text: words.lines(in: store, option: option))
    }
  }

  /// Words that are lost, as JSON and as text.
  private struct Loss {
    let line: JSONLine
    let text: [String]
  }

  private func text(_ report: RepairReport, _ lost: [Loss]) -> String {
    let store = StoreOption(namedStore)
    var lines = FindingList(report.left, store: namedStore).lines
    let losses = lost.flatMap(\.text).map { Format.visible($0) }
    guard !report.actions.isEmpty else {
      if !report.left.isEmpty {
        lines.append("no repair helps: \(Count.of(report.left.count, "problem")) left")
      }
      lines += losses
      return lines.isEmpty ? "nothing to repair" : lines.joined(separator: "\n")
    }
    for action in report.actions {
      lines.append("\(Format.visible(action.path))\n  \(action.what)")
    }
    lines.append("")
    if let recovery = report.recovery {
      lines.append(recovery.line)
    } else if let lost = report.findings.first(where: { $0.kind == .database }) {
      lines.append(lost.problem)
    }
    lines.append(
      report.isDryRun
        ? "nothing was changed; \(store.completing("spool store repair")) does this"
          + (report.left.isEmpty ? "" : ", and leaves \(Count.of(report.left.count, "problem"))")
        : report.left.isEmpty
          ? "repaired; \(store.completing("spool store check")) looks again"
          : "not everything could be repaired: \(Count.of(report.left.count, "problem")) left")
    if !losses.isEmpty { lines += [""] + losses }
    return lines.joined(separator: "\n")
  }
}

extension RepairReport {
  /// The damage that is left, or would be: an original that lies nowhere else, or a log of which no
  /// state leads to a signed head.
  fileprivate var left: [InspectionFinding] {
    isDryRun ? findings.filter { $0.isDamage && !$0.isRepairable } : remaining
  }
}
