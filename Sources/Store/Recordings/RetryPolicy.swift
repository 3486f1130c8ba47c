import PipelineModel
package import Platform

/// When a failed recording is retried.
package struct RetryPolicy: Hashable, Sendable, Codable {
  /// Attempts in all before it waits for a request.
  package var attempts: Int
  /// The pause after the first attempt, in seconds; it doubles each time.
  package var firstPause: Double
  /// In seconds.
  package var longestPause: Double
  /// Random variation of a pause, as a fraction from 0 to 1, so that simultaneous failures are not
  /// retried together.
  package var jitter: Double

  /// By default three attempts with pauses of about 2ⁿ s, an hour at most.
  package init(
    attempts: Int = 3, firstPause: Double = 2, longestPause: Double = 3600, jitter: Double = 0.1
  ) {
    self.attempts = max(1, attempts)
    self.firstPause = max(0, firstPause)
    self.longestPause = max(0, longestPause)
    self.jitter = min(1, max(0, jitter))
  }

  /// The change that a failure causes.
  ///
  /// Bad input quarantines the recording; a cancelled run puts it back; full disks and other
  /// external causes are retried without limit.
  /// - Parameters:
  ///   - attempt: attempts so far, this one included.
  ///   - time: in seconds since 1970.
  ///   - chance: random, from 0 to 1.
  package func change(
    after error: SpoolError, attempt: Int, at time: Double, chance: Double
  ) -> RecordingChange {
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
  /// - Parameter chance: random, from 0 to 1.
  package func pause(after attempt: Int, chance: Double) -> Double {
    var pause = firstPause
    for _ in 1..<max(1, min(attempt, 64)) { pause = min(longestPause, pause * 2) }
    return min(longestPause, pause * (1 + jitter * (2 * chance - 1)))
  }
}
