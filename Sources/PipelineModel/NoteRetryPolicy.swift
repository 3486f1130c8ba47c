/// When a note that failed is tried again.
public struct NoteRetryPolicy: Hashable, Sendable, Codable {
  /// How often it is tried in all before it waits to be asked for.
  public var attempts: Int
  /// The pause after the first attempt, in seconds; it doubles with each one.
  public var firstPause: Double
  /// The longest pause, in seconds.
  public var longestPause: Double
  /// By how much of itself a pause is lengthened or shortened at random, from 0 to 1, so that what
  /// failed together is not tried together.
  public var jitter: Double

  /// Makes a policy: by default three attempts with pauses of about 2ⁿ s, an hour at most.
  public init(
    attempts: Int = 3, firstPause: Double = 2, longestPause: Double = 3600, jitter: Double = 0.1
  ) {
    self.attempts = max(1, attempts)
    self.firstPause = max(0, firstPause)
    self.longestPause = max(0, longestPause)
    self.jitter = min(1, max(0, jitter))
  }

  /// The change that a failure comes to.
  ///
  /// The recording's own fault quarantines it at once; somebody who stopped it puts it back; a full
  /// disk, and what is in the way of all recordings, is waited for, however long, because it is no
  /// fault of the note.
  /// - Parameters:
  ///   - attempt: how often the note was tried, this time included.
  ///   - time: in seconds since 1970.
  ///   - chance: from 0 to 1, as it happens.
  public func change(
    after error: StageError, attempt: Int, at time: Double, chance: Double
  ) -> NoteChange {
    let words = error.account
    switch error.cause {
    case .input: return .quarantine(reason: words)
    case .cancelled: return .putBack(reason: words)
    case .blocked:
      let next = time + pause(after: 1, chance: chance)
      return .fail(reason: words, nextAttempt: next, isCounted: false)
    case .fullDisk:
      return .fail(
        reason: words, nextAttempt: time + min(longestPause, max(60, firstPause)), isCounted: false)
    case .environment, .transient, .takenOver:
      let next = attempt < attempts ? time + pause(after: attempt, chance: chance) : nil
      return .fail(reason: words, nextAttempt: next, isCounted: true)
    }
  }

  /// The pause after an attempt, counted from 1, in seconds.
  /// - Parameter chance: from 0 to 1, as it happens.
  public func pause(after attempt: Int, chance: Double) -> Double {
    var pause = firstPause
    for _ in 1..<max(1, min(attempt, 64)) { pause = min(longestPause, pause * 2) }
    return min(longestPause, pause * (1 + jitter * (2 * chance - 1)))
  }
}
