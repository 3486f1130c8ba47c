import Arguments
import PipelineModel
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

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console)
    do throws(Workbench.Refusal) {
      let readable = try bench.readableStore(at: arguments[Options.store])
      defer { withExtendedLifetime(readable) {} }
      let status = try StoreStatus(bench, readable.store, named: arguments[Options.store])
      console.print(
        arguments[Options.json]
          ? JSONText.of(status) : status.text(at: SystemClock().now))
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }
}
