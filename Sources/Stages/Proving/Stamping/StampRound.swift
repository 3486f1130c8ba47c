public import PipelineEngine
public import PipelineModel

/// Asks authorities for the time stamps that receipts wait for, and puts them beside the receipts.
/// One round at a time is under way in a store, whoever begins it.
public struct StampRound: Sendable {
  /// All that a round needs of a store.
  public typealias Store = StampQueue & FileCustody

  /// An answer takes no longer than this, in seconds.
  public static let answerPatience = 10.0

  private let store: any Store
  private let clock: any RunClock
  private let stop: StopRequest

  /// Works in a store until `stop` ends it.
  public init(_ store: any Store, clock: any RunClock, stop: StopRequest) {
    self.store = store
    self.clock = clock
    self.stop = stop
  }

  /// Tries every stamp that is due once, until time is up. An authority that failed is not asked
  /// again in this round. Blocks.
  /// - Parameters:
  ///   - patience: how long it may take in all, in seconds.
  ///   - isEager: whether those count, too, that are not due yet.
  ///   - report: told of every attempt.
  /// - Returns: false where another round is under way, and nothing was done.
  public func run(
    patience: Double = .infinity, isEager: Bool = false, report: (StampNews) -> Void
  ) throws(StoreError) -> Bool {
    let deadline = clock.elapsed + patience
    var result: Result<Void, StoreError> = .success(())
    let isAlone = try store.whileStamping {
      result = Result { () throws(StoreError) in
        try tryAll(until: deadline, isEager: isEager, report)
      }
    }
    try result.get()
    return isAlone
  }

  private func tryAll(
    until deadline: Double, isEager: Bool, _ report: (StampNews) -> Void
  ) throws(StoreError) {
    let stamps = try store.awaitedStamps()
    let attempt = StampAttempt(store: store, clock: clock, stop: stop)
    var failed: Set<String> = []
    // Where an authority is back, what waits for its answer does not wait on.
    var reached: Set<String> = []
    for stamp in stamps {
      let url = stamp.authority.url
      if stamp.reply == nil, failed.contains(url) { continue }
      guard
        isEager || stamp.nextAttempt <= clock.now
          || stamp.reply == nil && reached.contains(url)
      else { continue }
      let patience = min(Self.answerPatience, deadline - clock.elapsed)
      guard patience > 0, !stop.isRequested else { return }
      do throws(StampTrouble) {
        report(
          StampNews(stamp: stamp, outcome: .success(try attempt.make(stamp, patience: patience))))
        reached.insert(url)
      } catch {
        // Whoever asked to stop did not try.
        if stop.isRequested { return }
        if error.isOfAuthority { failed.insert(url) }
        try postpone(stamp, among: stamps, error)
        report(StampNews(stamp: stamp, outcome: .failure(error)))
      }
    }
  }

  private func postpone(
    _ stamp: AwaitedStamp, among stamps: [AwaitedStamp], _ trouble: StampTrouble
  ) throws(StoreError) {
    // Each failure of an authority may be another receipt's, and they count together.
    let others = stamps.filter { trouble.isOfAuthority && $0.authority.url == stamp.authority.url }
    let before = (others + [stamp]).map(\.attempts).reduce(0, max)
    // Whoever asks before a pause is over finds the same outage: the pause does not grow by that.
    let underWay = others.filter { $0.attempts > 0 && $0.nextAttempt > clock.now }
      .map(\.nextAttempt).max()
    let attempts = underWay == nil ? before + 1 : before
    try store.postpone(
      stamp, after: attempts, because: trouble.message,
      until: underWay
        ?? clock.now + StampBackoff.pause(after: attempts, chance: clock.jitter()),
      isForAll: trouble.isOfAuthority)
  }
}
