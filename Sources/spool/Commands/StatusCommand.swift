import Platform
import Store

/// `spool status`: what waits, runs, failed and is quarantined, since when, and what to type.
struct StatusCommand: Command {
  static let declaration = CommandDeclaration(
    name: "status", group: "Watch",
    summary: "Say what waits, runs, failed and is quarantined.",
    discussion: """
      Counts the notes of all inboxes by how they stand, with how long the oldest has stood so, and \
      names runs that did not come to their end, notes that claim another one's identity until \
      somebody has decided, inboxes that pause because their results have nowhere to go, and how many \
      receipts wait for a time stamp. The lines behind "next:" can be typed as they are.
      """,
    options: [Options.store, Options.json])

  let arguments: ParsedArguments

  func run(console: Console) throws(SpoolError) -> ExitCode {
    let context = CommandContext(console: console)
    let readable = try context.readableStore(at: arguments[Options.store])
    defer { withExtendedLifetime(readable) {} }
    let status = try StoreStatus(context, readable.store, named: arguments[Options.store])
    console.print(
      arguments[Options.json] ? JSONText.of(status) : status.text(at: SystemClock().now))
    return .done
  }
}
