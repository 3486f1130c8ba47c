import PipelineModel
import Platform
import Receipts
import Store

/// `spool backup`: copies the store's database.
struct BackupCommand: Command {
  private static let file = Positional<String?>.optional(
    "FILE", help: "Where the copy goes; the first of the store's own slots if none is named.",
    completion: .files())
  private static let replace = Option<Bool>.flag("replace", help: "Replace a file that is there.")

  static let declaration = CommandDeclaration(
    name: "backup", group: "Store",
    summary: "Back up the store's database.",
    discussion: """
      Spool does so by itself once a day, after a run, and before it changes the database's format. \
      The last three copies are kept in the store's folder, under backups. What is copied are runs \
      and checkpoints; artifacts and exports are files, and any backup of files takes them along. \
      With FILE, nothing is written in the store, which may lie on a disk that is full or may only \
      be read.
      """,
    positionals: [file], options: [replace, Options.store, Options.json],
    examples: [Example("A copy elsewhere", "spool backup /mnt/usb/spool.sqlite")])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let context = CommandContext(console: console)
    let path: String
    if let file = arguments[Self.file] {
      path = context.absolute(file)
      // The store is not changed, and may be read-only.
      try context.existing(at: arguments[Options.store])
        .backUp(to: path, isReplacing: arguments[Self.replace])
    } else {
      path = try context.store(at: arguments[Options.store]).backUp()
    }
    console.print(arguments[Options.json] ? JSONText.of(["path": path]) : "backed up to \(path)")
    return .done
  }
}
