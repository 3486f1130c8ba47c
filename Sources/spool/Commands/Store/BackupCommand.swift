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

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let context = CommandContext(console: console)
    do throws(CommandContext.Refusal) {
      if let file = arguments[Self.file] { return try copy(to: context.absolute(file), context) }
      let store = try context.store(at: arguments[Options.store])
      do throws(SpoolError) {
        let path = try store.backUp()
        tell(path, console)
        return .done
      } catch {
        throw CommandContext.Refusal(
          text: ErrorText(error).render(console), code: .failed)
      }
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  /// Writes a copy to another place; does not change the store.
  private func copy(to path: String, _ context: CommandContext) throws(CommandContext.Refusal)
    -> ExitCode
  {
    let readable = try context.existingStore(at: arguments[Options.store])
    defer { withExtendedLifetime(readable) {} }
    do throws(SpoolError) {
      try readable.store.backUp(to: path, isReplacing: arguments[Self.replace])
    } catch {
      throw CommandContext.Refusal(
        text: ErrorText(error).render(context.console), code: .failed)
    }
    tell(path, context.console)
    return .done
  }

  private func tell(_ path: String, _ console: Console) {
    console.print(arguments[Options.json] ? JSONText.of(["path": path]) : "backed up to \(path)")
  }
}
