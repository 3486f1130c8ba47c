import Arguments
import PipelineModel
import Store

/// `spool restore`: put a backup in the place of the store's database.
struct RestoreCommand: Command {
  private static let source = Positional<String?>.optional(
    "BACKUP", help: "A slot, 1 for the newest, or a file; the newest good slot if none is named.",
    completion: .files())

  static let declaration = CommandDeclaration(
    name: "restore", group: "Store",
    summary: "Put a backup in the place of the store's database.",
    discussion: """
      The backup is looked through before anything is changed, and the database that it replaces is \
      kept beside it. What was done since the backup is in the records, and the next command takes it \
      in again. No other spool may work in the store meanwhile.
      """,
    positionals: [source], options: [Options.store, Options.json],
    examples: [
      Example("The newest backup", "spool restore"),
      Example("The one before it", "spool restore 2"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let path = StoreLocation.resolve(
      option: arguments[Options.store], environment: Environment.variables)
    do throws(StoreError) {
      let done = try DiskStore.restore(path, from: source(path, console))
      if arguments[Options.json] {
        console.print(JSONText.of(RestoreLine(backup: done.backup, keptAside: done.keptAside)))
      } else {
        let aside = done.keptAside.map { "\nthe database before it is kept as \($0)" } ?? ""
        console.print("restored from \(done.backup)\(aside)")
      }
      return .done
    } catch {
      console.report(ErrorText(StageError(error)).render(console))
      return .failed
    }
  }

  /// The backup's file; nil for the newest good slot.
  private func source(_ store: String, _ console: Console) -> String? {
    guard let named = arguments[Self.source] else { return nil }
    if let slot = Int(named) { return DiskStore.backupPath(ofStore: store, slot: slot) }
    return Workbench(console: console).absolute(named)
  }
}

/// What was restored as `--json` shows it.
private struct RestoreLine: Encodable {
  let backup: String
  let keptAside: String?
}
