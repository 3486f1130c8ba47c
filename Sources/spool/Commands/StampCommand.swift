import Arguments
import Glibc
import PipelineModel
import Stages
import Store

/// `spool stamp`: asks now for the time stamps that receipts wait for.
struct StampCommand: Command {
  private static let forget = Option<String?>.value(
    "forget", "RECEIPT", help: "Drop what waits for this receipt, and ask nobody.",
    completion: .files())

  static let declaration = CommandDeclaration(
    name: "stamp", group: "Proof",
    summary: "Ask for the time stamps that receipts wait for.",
    discussion: """
      A receipt whose pipeline names time stamping authorities gets a token of each beside it. Where \
      one cannot be reached, or gives an answer that does not hold, the receipt waits: the next run, \
      batch or watch with the same store asks again, after pauses that grow from a minute to six \
      hours. This asks at once, for all that wait, and shows those that still do and why. An \
      authority that fails is asked once.

      The exit code is 0 if nothing waits any more, 3 if some receipts were stamped and others wait, \
      and 1 if none was stamped and some wait.
      """,
    options: [forget, Options.store, Options.json, Options.quiet],
    examples: [Example("Now that the network is back", "spool stamp")])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  /// What is typed to ask for the stamps of a store.
  /// - Parameter store: `--store` as it was typed.
  static func line(_ store: String?) -> String {
    ShellWords.line(["spool", "stamp"] + (store.map { ["--store", $0] } ?? []))
  }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console)
    do throws(Workbench.Refusal) {
      let option = arguments[Options.store]
      try bench.requireStore(
        at: StoreLocation.resolve(option: option, environment: Environment.variables))
      let store = try bench.store(at: option)
      do throws(StoreError) {
        guard let receipt = arguments[Self.forget] else { return try ask(store, console) }
        return try drop(bench.absolute(receipt), in: store, console)
      } catch {
        throw Workbench.Refusal(
          text: ErrorText(StageError(error)).render(console), code: .failed)
      }
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  private func ask(_ store: DiskStore, _ console: Console) throws(StoreError) -> ExitCode {
    let stop = SignalWatch.begin()
    let clock = SystemClock()
    let isTold = !arguments[Options.json] && !arguments[Options.quiet]
    var count = 0
    try StampTurn(store, clock: clock, stop: stop).run(patience: .infinity, isEager: true) {
      guard case .success(let found) = $0.outcome else { return }
      count += 1
      if arguments[Options.json] { console.print(JSONText.of(StampLine($0.stamp, found))) }
      if isTold { console.print(StampText.line($0.stamp, found)) }
    }
    let waiting = try store.awaitedStamps()
    if arguments[Options.json] {
      for stamp in waiting { console.print(JSONText.of(StampLine(waiting: stamp))) }
    } else {
      for line in StampText.lines(waiting: waiting, at: clock.now) { console.print(line) }
    }
    if let signal = stop.signalNumber { return .interrupted(by: signal) }
    if isTold, waiting.isEmpty, count == 0 { console.print("no receipt waits for a time stamp") }
    return waiting.isEmpty ? .done : count > 0 ? .someFailed : .failed
  }

  private func drop(
    _ receipt: String, in store: DiskStore, _ console: Console
  ) throws(StoreError) -> ExitCode {
    let count = try store.forgetStamps(ofReceipt: receipt)
    guard count > 0 else {
      console.report(
        ErrorText(
          StageError(
            "nothing waits for \(receipt)", reason: "no time stamp of it is waited for here",
            advice: "spool stamp shows the receipts that wait")
        ).render(console))
      return .failed
    }
    if !arguments[Options.json], !arguments[Options.quiet] {
      console.print(Format.visible("forgotten \(receipt)"))
    }
    return .done
  }
}
