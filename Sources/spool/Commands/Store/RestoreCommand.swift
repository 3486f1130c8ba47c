import Delivery
import PipelineEngine
import PipelineModel
import Platform
import Proof
import Receipts
import Store

extension Command {
  /// `spool store restore`: replaces the store's database by a backup.
  static let restore = Command(
    name: "store restore", group: "Care",
    summary: "Put a backup in the place of the store's database.",
    discussion: """
      The backup is looked through before anything is changed, and the database that it replaces is \
      kept beside it. What was done since the backup is in the records, and is taken in again at once. \
      A backup of another store is refused, because what it speaks of is not here, and so is one of an older format than the database, \
      which a newer Spool wrote. No other \
      spool may work in the store meanwhile. Where the change log is lost too, what was done since the \
      backup is not known any more: the files without a record are counted and kept, and spool store check \
      calls the store damaged until spool store repair accepts the loss.

      Where no store is, as on a new computer, a backup's file makes one: with the runs, the \
      recordings of inboxes, the corrections and the ledger of receipts, and without the files that \
      lay in the old store. Words and sound are computed again when they are wanted. The keys that receipts \
      are signed with are in no backup: copy their folder, which spool proof key prints on the old computer, \
      too; without it the ledger cannot be checked. Copy the whole folder of the store instead where you can.

      With --from, everything comes back that a destination has, on a computer without the store: the       originals and what arrived with them as uploaded recordings of the store, which is made where it       is missing, and exports, receipts and transcripts into --out, under the paths that they have there. Every       file is compared with the SHA-256 in the document of its recording. What is missing there, or has       other bytes, is told file by file, and the rest comes back; so do files beside those of Spool that no document       names, which are told too. Nothing here is replaced, and what was interrupted goes on when it is run       again. Private keys are in no delivery: receipts verify as of a foreign signer until spool proof key       import has taken the public key. The exit code is 4 if anything is missing or damaged.
      """,
    positionals: [Options.source],
    options: [
      Options.list, Options.otherStore, Options.force, Options.from, Options.target,
      Options.destinations, Options.keys, Options.store, Options.json, Options.quiet,
    ],
    examples: [
      Example("What there is", "spool store restore --list"),
      Example("The newest backup", "spool store restore"),
      Example("The one before it", "spool store restore 2"),
      Example("On a new computer", "spool store restore /mnt/usb/spool.sqlite"),
      Example("From a NAS alone", "spool store restore --from nas --out ~/recordings"),
    ],
    perform: CommandContext.restoreBackup)
}

extension Options {
  fileprivate static let source = Positional<String?>.optional(
    "BACKUP", help: "A slot, 1 for the newest, or a file; the newest good slot if none is named.",
    completion: .files())
  fileprivate static let list = Option<Bool>.flag(
    "list", short: "l", help: "Only show the store's own backups: their dates, sizes and soundness."
  )
  fileprivate static let otherStore = Option<Bool>.flag(
    "other-store", help: "Take the backup although it is one of another store.")
  fileprivate static let force = Option<Bool>.flag(
    "force", help: "Replace the database although a newer Spool wrote it.")
  fileprivate static let from = Option<String?>.value(
    "from", "DESTINATION", help: "Bring back what this destination has, and not a backup.",
    completion: NameKind.destinations.hint())
  fileprivate static let target = Option<String?>.value(
    "out", "FOLDER", short: "o",
    help: "With --from, the folder for exports, receipts and transcripts.",
    defaultText: "a folder of the destination's name in the current one", completion: .folder)
}

extension CommandContext {
  fileprivate func restoreBackup() throws(SpoolError) -> ExitCode {
    if let name = arguments[Options.from] { return try restore(from: name) }
    if arguments[Options.target] != nil {
      throw .usage("--out goes with --from alone", advice: "spool help store restore")
    }
    let path = storePath
    if arguments[Options.source] == nil || arguments[Options.list] { try requireStore() }
    try requireParent(of: named(Options.store))
    if arguments[Options.list] {
      let slots = try DiskStore.backups(ofStore: path)
      answer(list: slots, table(slots))
      return .done
    }
    let done = try DiskStore.restore(
      path, from: source(path), acceptsOtherStore: arguments[Options.otherStore],
      replacesNewer: arguments[Options.force])
    let aside = done.keptAside.map { "\nthe database before it is kept as \($0)" } ?? ""
    if !isJSON { console.print(console.completed("restored from \(done.backup)\(aside)")) }
    if done.unrecordedFiles > 0 { warn(ofUnrecorded: done.unrecordedFiles) }
    // Takes in what the change log knows of the time since the backup.
    let store = try openStore()
    let keys = keyFolder()
    let audit = LogAudit(try store.receipts.records(), keys: try keys.knownKeys())
    let ledger = audit.isUntold ? Self.unknownKey(keys.path) : audit.refusal
    if isJSON {
      console.print(
        JSONText.of(
          JSONLine([
            "backup": done.backup, "keptAside": done.keptAside,
            "unrecordedFiles": done.unrecordedFiles == 0 ? nil : done.unrecordedFiles,
            "ledger": ledger?.message, "advice": ledger?.advice,
          ])))
    }
    if audit.isUntold, let ledger {
      console.report("note: " + Format.visible(ledger.message))
      console.report("help:  " + console.completed(Format.visible(ledger.advice ?? "")))
    } else if let ledger {
      console.report(ledger.text(console))
      return .verificationFailed
    } else {
      catchUpLedger(in: store)
    }
    return .done
  }

  /// Says what a backup does not know of a store whose change log is lost.
  private func warn(ofUnrecorded count: Int) {
    console.report(
      "warning: \(count) \(count == 1 ? "file" : "files") in the store \(count == 1 ? "has" : "have") no "
        + "record in this backup: recordings that were taken in since may be among them, and all are kept"
    )
    console.report(
      "help:  "
        + console.completed(
          "\(command: .check) names them, and \(command: .repair) accepts the loss"))
  }

  /// Brings back what a destination has.
  private func restore(from name: String) throws(SpoolError) -> ExitCode {
    guard arguments[Options.source] == nil, !arguments[Options.list] else {
      throw .usage("--from goes without a backup", advice: "spool help store restore")
    }
    let destination = try destinations().destination(named: name)
    let folder = try OutputFolder.prepare(absolute(arguments[Options.target] ?? name))
    let store = try openStore()
    let stop = console.heed(SignalWatch.begin())
    var restoration = DestinationRestoration(self, destination, into: store, folder, stop)
    do throws(SpoolError) {
      try restoration.run()
    } catch {
      restoration.end()
      if let signal = stop.signalNumber { return .interrupted(by: signal) }
      throw error
    }
    restoration.end()
    return restoration.problemCount > 0 ? .verificationFailed : .done
  }

  /// What is not known yet of a ledger whose keys have not been copied.
  private static func unknownKey(_ folder: String) -> SpoolError {
    SpoolError(
      "the ledger of receipts is signed with a key that is not in \(folder), so it cannot be checked yet",
      advice: "copy the folder of the keys there from the computer that signed it, where "
        + "spool proof key prints its path; then \(command: .check)", cause: .blocked)
  }

  private func table(_ slots: [BackupSlot]) -> String {
    if slots.isEmpty { return "no backup yet: spool store backup makes one" }
    return slots.map { slot in
      "\(slot.number)  \(Format.time(slot.writtenAt))  "
        + Format.padLeft(ByteCount(slot.byteCount).description, 9) + "  "
        + (slot.fault.map { "damaged: \($0)" } ?? "sound")
    }.joined(separator: "\n")
  }

  /// The backup's path; nil for the newest valid slot.
  private func source(_ store: String) throws(SpoolError) -> String? {
    guard let named = arguments[Options.source] else { return nil }
    if let number = Int(named) {
      let slots = try DiskStore.backups(ofStore: store)
      if let slot = slots.first(where: { $0.number == number }) { return slot.path }
      let names = slots.map { "\($0.number)" }.joined(separator: ", ")
      throw SpoolError.usage(
        "cannot find the backup \(named)",
        reason: slots.isEmpty ? "the store has none yet" : "the store has these: \(names)",
        advice: "spool store restore --list shows them; a file is named by its path")
    }
    try requireThere(named)
    return absolute(named)
  }
}
