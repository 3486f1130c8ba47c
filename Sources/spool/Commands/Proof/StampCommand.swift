import Glibc
import PipelineModel
import Platform
import Proof
import Receipts
import Stages
import Store

/// `spool stamp`: requests the pending time stamps of receipts.
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

  init(arguments: ParsedArguments) { self.arguments = arguments }

  /// The command that requests a store's time stamps.
  /// - Parameter store: `--store` as typed.
  static func line(_ store: String?) -> String {
    ShellWords.line(["spool", "stamp"] + (store.map { ["--store", $0] } ?? []))
  }

  func run(console: Console) -> ExitCode {
    let context = CommandContext(console: console)
    do throws(CommandContext.Refusal) {
      let option = arguments[Options.store]
      try context.requireStore(
        at: StoreLocation.resolve(option: option, environment: Environment.variables))
      let store = try context.store(at: option)
      do throws(SpoolError) {
        guard let receipt = arguments[Self.forget] else { return try ask(store, console) }
        return try drop(context.absolute(receipt), in: store, console)
      } catch {
        throw CommandContext.Refusal(
          text: ErrorText(error).render(console), code: .failed)
      }
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  private func ask(_ store: DiskStore, _ console: Console) throws(SpoolError) -> ExitCode {
    let stop = SignalWatch.begin()
    let clock = SystemClock()
    let isTold = !arguments[Options.json] && !arguments[Options.quiet]
    var count = 0
    try StampRound(store, clock: clock, stop: stop).runAfterOthers(isEager: true) {
      stamp, outcome in
      guard case .success(let found) = outcome else { return }
      count += 1
      if arguments[Options.json] { console.print(JSONText.of(StampLine(stamp, found))) }
      if isTold { console.print(Self.line(stamp, found)) }
    }
    let waiting = try store.stamps.awaited()
    if arguments[Options.json] {
      for stamp in waiting { console.print(JSONText.of(StampLine(waiting: stamp))) }
    } else {
      for line in Self.lines(waiting: waiting, at: clock.now) { console.print(line) }
    }
    if let signal = stop.signalNumber { return .interrupted(by: signal) }
    if isTold, waiting.isEmpty, count == 0 { console.print("no receipt waits for a time stamp") }
    return waiting.isEmpty ? .done : count > 0 ? .someFailed : .failed
  }

  private func drop(
    _ receipt: String, in store: DiskStore, _ console: Console
  ) throws(SpoolError) -> ExitCode {
    let count = try store.stamps.forget(ofReceipt: receipt)
    guard count > 0 else {
      console.report(
        ErrorText(
          SpoolError(
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

/// Time stamps as text.
extension StampCommand {
  /// `stamped   exports/note.receipt.json   2026-11-21T14:22:05.000Z, CN=TSA`
  static func line(_ stamp: AwaitedStamp, _ found: TimeStamp) -> String {
    Format.visible("stamped   \(stamp.path)   \(found.timeText), \(found.authority)")
  }

  /// Pending time stamps, grouped by reason.
  private static func lines(waiting stamps: [AwaitedStamp], at now: Double) -> [String] {
    var groups: [(reason: String, stamps: [AwaitedStamp])] = []
    for stamp in stamps {
      let reason = stamp.trouble ?? "\(stamp.authority.url) was not asked yet"
      if let index = groups.firstIndex(where: { $0.reason == reason }) {
        groups[index].stamps.append(stamp)
      } else {
        groups.append((reason, [stamp]))
      }
    }
    return groups.flatMap { group in
      group.stamps.prefix(shown).map { "waiting   \(Format.visible($0.path))" }
        + (group.stamps.count > shown ? ["          and \(group.stamps.count - shown) more"] : [])
        + ["          \(Format.visible(group.reason)); \(Self.next(group.stamps, now))"]
    }
  }

  /// Maximum number of receipts listed in a group.
  private static let shown = 5

  private static func next(_ stamps: [AwaitedStamp], _ now: Double) -> String {
    let next = stamps.map(\.nextAttempt).min() ?? now
    return next > now ? "again in \(Format.duration(next - now))" : "due now"
  }
}

/// A time stamp as `--json` shows it.
struct StampLine: Encodable {
  private let event: String
  private let receipt: String
  private let authority: String
  private let token: String
  private var time: String?
  private var signer: String?
  private var since: Double?
  private var attempts: Int?
  private var nextAttempt: Double?
  private var trouble: String?

  init(_ stamp: AwaitedStamp, _ found: TimeStamp) {
    self.init("stamped", stamp)
    time = found.timeText
    signer = found.authority
  }

  init(waiting stamp: AwaitedStamp) {
    self.init("waiting-for-stamp", stamp)
    since = stamp.since
    attempts = stamp.attempts
    nextAttempt = stamp.nextAttempt
    trouble = stamp.trouble
  }

  private init(_ event: String, _ stamp: AwaitedStamp) {
    self.event = event
    receipt = stamp.path
    authority = stamp.authority.url
    token = stamp.token
  }
}

/// The last action of a run or batch: requests the due time stamps and reports the result, which
/// does not affect the run's own.
struct LastStamps {
  /// Seconds for which authorities are asked after the work.
  private static let patience = 10.0
  /// Maximum number of time stamps listed.
  private static let shown = 3

  private let store: DiskStore
  private let storeOption: String?
  private let voice: RunLaunch.Voice
  private let console: Console

  /// - Parameter storeOption: `--store` as typed.
  init(_ store: DiskStore, storeOption: String?, voice: RunLaunch.Voice, console: Console) {
    self.store = store
    self.storeOption = storeOption
    self.voice = voice
    self.console = console
  }

  /// Requests time stamps until a time limit or a signal.
  func ask(_ clock: SystemClock, stop: StopRequest) {
    var came: [(AwaitedStamp, TimeStamp)] = []
    var troubles: [String] = []
    do throws(SpoolError) {
      guard let next = try store.stamps.nextAttempt(), next <= clock.now else { return }
      let round = StampRound(store, clock: clock, stop: stop)
      try round.runAfterOthers(patience: Self.patience) { stamp, outcome in
        switch outcome {
        case .success(let found): came.append((stamp, found))
        case .failure(let trouble):
          if !troubles.contains(trouble.message) { troubles.append(trouble.message) }
        }
      }
      tell(came)
      for trouble in troubles { console.report("note: \(Format.visible(trouble))") }
      let waiting = try store.stamps.awaited()
      guard !waiting.isEmpty else { return }
      if case .json = voice {
        for stamp in waiting { console.print(JSONText.of(StampLine(waiting: stamp))) }
      }
      let receipts = Set(waiting.map(\.path)).count
      console.report(
        "note: \(Count.of(receipts, "receipt")) \(receipts == 1 ? "waits" : "wait") for a time "
          + "stamp: \(StampCommand.line(storeOption)) asks again")
    } catch {
      console.report("warning: cannot \(error.action) \(error.path): \(error.why)")
    }
  }

  private func tell(_ came: [(AwaitedStamp, TimeStamp)]) {
    switch voice {
    case .json: for (stamp, found) in came { console.print(JSONText.of(StampLine(stamp, found))) }
    case .quiet: break
    case .full:
      guard came.count > Self.shown else {
        for (stamp, found) in came { console.print(StampCommand.line(stamp, found)) }
        return
      }
      console.print("stamped   \(came.count) receipts")
    }
  }
}
