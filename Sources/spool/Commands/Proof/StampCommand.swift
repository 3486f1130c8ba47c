import Glibc
import PipelineModel
import Platform
import Proof
import Receipts
import Stages
import Store

extension Command {
  /// `spool proof stamp`: requests the pending time stamps of receipts.
  static let stamp = Command(
    name: "proof stamp", group: "Proof",
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
    options: [Options.forget, Options.store, Options.json, Options.quiet],
    examples: [Example("Now that the network is back", "spool proof stamp")],
    perform: CommandContext.askForStamps)
}

extension Options {
  fileprivate static let forget = Option<String?>.value(
    "forget", "RECEIPT", help: "Drop what waits for this receipt, and ask nobody.",
    completion: .files())
}

extension CommandContext {
  /// The command that requests a store's time stamps.
  /// - Parameter store: `--store` as typed.
  static func stampCommand(_ store: String?) -> String {
    ShellWords.line(["spool", "proof", "stamp"] + (store.map { ["--store", $0] } ?? []))
  }

  fileprivate func askForStamps() throws(SpoolError) -> ExitCode {
    try requireStore()
    let store = try openStore()
    guard let receipt = arguments[Options.forget] else { return try ask(store) }
    return try drop(absolute(receipt), in: store)
  }

  private func ask(_ store: DiskStore) throws(SpoolError) -> ExitCode {
    let stop = console.heed(SignalWatch.begin())
    let clock = SystemClock()
    let isTold = voice == .full
    var count = 0
    try StampRound(store, clock: clock, stop: stop).runAfterOthers(isEager: true) {
      stamp, outcome in
      guard case .success(let found) = outcome else { return }
      count += 1
      if isJSON { console.print(json: stamp.line(found)) }
      if isTold { console.print(Self.line(stamp, found)) }
    }
    let waiting = try store.stamps.awaited()
    if isJSON {
      for stamp in waiting { console.print(json: stamp.line(nil)) }
    } else {
      for line in Self.lines(waiting: waiting, at: clock.now) { console.print(line) }
    }
    if let signal = stop.signalNumber { return .interrupted(by: signal) }
    if isTold, waiting.isEmpty, count == 0 { console.print("no receipt waits for a time stamp") }
    return waiting.isEmpty ? .done : count > 0 ? .someFailed : .failed
  }

  private func drop(_ receipt: String, in store: DiskStore) throws(SpoolError) -> ExitCode {
    let count = try store.stamps.forget(ofReceipt: receipt)
    guard count > 0 else {
      throw SpoolError(
        "nothing waits for \(receipt)", reason: "no time stamp of it is waited for here",
        advice: "spool proof stamp shows the receipts that wait")
    }
    if voice == .full {
      console.print(Format.visible("forgotten \(receipt)"))
    }
    return .done
  }
}

/// Time stamps as text.
extension CommandContext {
  /// `stamped   exports/note.receipt.json   2026-11-21T14:22:05.000Z, CN=TSA`
  private static func line(_ stamp: AwaitedStamp, _ found: TimeStamp) -> String {
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

extension AwaitedStamp {
  /// The time stamp as `--json` shows it.
  /// - Parameter found: nil if it is still awaited.
  func line(_ found: TimeStamp?) -> JSONLine {
    JSONLine(
      found == nil ? "waiting-for-stamp" : "stamped",
      [
        "receipt": path, "authority": authority.url, "token": token, "time": found?.timeText,
        "signer": found?.authority, "since": found == nil ? DateTime(secondsSince1970: since) : nil,
        "attempts": found == nil ? attempts : nil,
        "nextAttempt": found == nil ? DateTime(secondsSince1970: nextAttempt) : nil,
        "trouble": found == nil ? trouble : nil,
      ])
  }
}

/// The last action of a run or batch.
extension CommandContext {
  /// Seconds for which authorities are asked after the work.
  private static let patience = 10.0
  /// Maximum number of time stamps listed.
  private static let listed = 3

  /// Requests the due time stamps until a time limit or a signal, and reports the result, which
  /// does not affect the run's own.
  func askForLastStamps(in store: DiskStore, _ clock: SystemClock, stop: StopRequest) {
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
      if isJSON {
        for stamp in waiting { console.print(json: stamp.line(nil)) }
      }
      let receipts = Set(waiting.map(\.path)).count
      console.report(
        "note: \(Count.of(receipts, "receipt")) \(receipts == 1 ? "waits" : "wait") for a time "
          + "stamp: \(Self.stampCommand(namedStore)) asks again")
    } catch {
      console.report("warning: \(Format.visible(error.account))")
    }
  }

  private func tell(_ came: [(AwaitedStamp, TimeStamp)]) {
    switch voice {
    case .json: for (stamp, found) in came { console.print(json: stamp.line(found)) }
    case .quiet: break
    case .full:
      guard came.count > Self.listed else {
        for (stamp, found) in came { console.print(Self.line(stamp, found)) }
        return
      }
      console.print("stamped   \(came.count) receipts")
    }
  }
}
