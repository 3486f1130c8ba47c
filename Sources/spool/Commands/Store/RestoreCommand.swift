import PipelineEngine
import PipelineModel
import Platform
import Receipts
import Store

/// `spool restore`: replaces the store's database by a backup.
struct RestoreCommand: Command {
  private static let source = Positional<String?>.optional(
    "BACKUP", help: "A slot, 1 for the newest, or a file; the newest good slot if none is named.",
    completion: .files())

  private static let list = Option<Bool>.flag(
    "list", short: "l", help: "Only show the store's own backups: their dates, sizes and soundness."
  )

  private static let otherStore = Option<Bool>.flag(
    "other-store", help: "Take the backup although it is one of another store.")

  private static let force = Option<Bool>.flag(
    "force", help: "Replace the database although a newer Spool wrote it.")

  static let declaration = CommandDeclaration(
    name: "restore", group: "Store",
    summary: "Put a backup in the place of the store's database.",
    discussion: """
      The backup is looked through before anything is changed, and the database that it replaces is \
      kept beside it. What was done since the backup is in the records, and the next command takes it \
      in again. A backup of another store is refused, because what it speaks of is not here, and so is one of an older format than the database, \
      which a newer Spool wrote. No other \
      spool may work in the store meanwhile.
      """,
    positionals: [source], options: [list, otherStore, force, Options.store, Options.json],
    examples: [
      Example("What there is", "spool restore --list"),
      Example("The newest backup", "spool restore"),
      Example("The one before it", "spool restore 2"),
    ])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let path = CommandContext.storePath(arguments[Options.store])
    if arguments[Self.list] {
      show(try DiskStore.backups(ofStore: path), console)
      return .done
    }
    let done = try DiskStore.restore(
      path, from: source(path, console), acceptsOtherStore: arguments[Self.otherStore],
      replacesNewer: arguments[Self.force])
    let aside = done.keptAside.map { "\nthe database before it is kept as \($0)" } ?? ""
    console.print(
      arguments[Options.json]
        ? JSONText.of(JSONLine(["backup": done.backup, "keptAside": done.keptAside]))
        : "restored from \(done.backup)\(aside)")
    return .done
  }

  private func show(_ slots: [BackupSlot], _ console: Console) {
    if arguments[Options.json] {
      for slot in slots { console.print(JSONText.of(slot)) }
    } else if slots.isEmpty {
      console.print("no backup yet: spool backup makes one")
    } else {
      let lines = slots.map { slot in
        "\(slot.number)  \(Format.time(slot.writtenAt))  "
          + Format.padLeft(ByteCount(slot.byteCount).description, 9) + "  "
          + (slot.fault.map { "damaged: \($0)" } ?? "sound")
      }
      console.print(lines.joined(separator: "\n"))
    }
  }

  /// The backup's path; nil for the newest valid slot.
  private func source(_ store: String, _ console: Console) throws(SpoolError) -> String? {
    guard let named = arguments[Self.source] else { return nil }
    if let number = Int(named) {
      let slots = try DiskStore.backups(ofStore: store)
      if let slot = slots.first(where: { $0.number == number }) { return slot.path }
      let names = slots.map { "\($0.number)" }.joined(separator: ", ")
      throw SpoolError(
        "find the backup", named,
        reason: slots.isEmpty ? "the store has none yet" : "the store has these: \(names)",
        advice: "spool restore --list shows them; a file is named by its path")
    }
    return CommandContext(console: console).absolute(named)
  }
}
