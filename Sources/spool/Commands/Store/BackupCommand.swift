import PipelineModel
import Platform
import Proof
import Receipts
import Store

extension Command {
  /// `spool store backup`: copies the store's database.
  static let backup = Command(
    name: "store backup", group: "Care",
    summary: "Back up the store's database.",
    discussion: """
      Spool does so by itself once a day, after a run, and before it changes the database's format. \
      The last three copies are kept in the store's folder, under backups. What is copied are runs, \
      checkpoints, the recordings of inboxes with their history, corrections of words and the ledger \
      of receipts. Not in it are the files: words, sound and recordings under artifacts, exports, and \
      the keys. Any backup of files takes those along. \
      With FILE, nothing is written in the store, which may lie on a disk that is full or may only \
      be read.
      """,
    positionals: [Options.file],
    options: [Options.replaceCopy, Options.store, Options.keys, Options.json],
    examples: [Example("A copy elsewhere", "spool store backup /mnt/usb/spool.sqlite")],
    perform: CommandContext.backUp)
}

extension Options {
  fileprivate static let file = Positional<String?>.optional(
    "FILE", help: "Where the copy goes; the first of the store's own slots if none is named.",
    completion: .files())
  fileprivate static let replaceCopy = Option<Bool>.flag(
    "replace", help: "Replace a file that is there.")
}

extension CommandContext {
  fileprivate func backUp() throws(SpoolError) -> ExitCode {
    let file = arguments[Options.file]
    if file == nil { try requireStore() }
    // For a copy in a file the store is not changed, and may be read-only.
    let store = try file == nil ? openStore() : existingStore()
    let lackingCount = catchUpLedger(in: store)
    let path: String
    if let file {
      path = absolute(file)
      try store.backUp(to: path, isReplacing: arguments[Options.replaceCopy])
    } else {
      path = try store.backUp()
    }
    answer(["path": path], "backed up to \(path)")
    if lackingCount > 0 {
      console.report(
        Format.visible(
          "warning: it lacks \(Count.of(lackingCount, "receipt")) of the ledger, which \(store.path)/receipts.log "
            + "has: copy that file and receipts.head.json too, into the folder of the restored store"
        ))
    }
    if arguments[Options.file] != nil, !isJSON {
      let keys = keyFolder().path
      console.report(
        Format.visible(
          "note: it holds the store's records, and none of its files: words, sound and recordings lie "
            + "in \(absolute(storePath))/artifacts, the keys in \(keys)"))
    }
    return .done
  }
}
