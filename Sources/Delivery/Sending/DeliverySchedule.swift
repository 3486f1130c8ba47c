/// When a delivery that failed is tried again. A pure value.
///
/// Three quick tries after 2, 4 and 8 s, then one a minute, two, four, and so on up to six hours, for
/// ever: a destination that is off overnight is no failure of the recording.
package struct DeliverySchedule: Hashable, Sendable {
  /// Random variation of a pause, as a fraction from 0 to 1, so that simultaneous failures are not
  /// repeated together.
  package var jitter = 0.1

  private static let quickPauses = [2.0, 4, 8]
  private static let firstPause = 60.0
  private static let longestPause = 6 * 3600.0
  /// After a destination itself has failed.
  private static let firstHold = 5.0
  /// While it cannot be connected to: a look costs nothing, and the user who switches it on wants to see
  /// it used.
  private static let longestAbsence = 300.0

  package init() {}

  /// The pause after a file's failure, in seconds.
  /// - Parameters:
  ///   - attempts: failed so far, this one included.
  ///   - chance: random, from 0 to 1.
  ///   - asked: the seconds that the server asked for; nil if it did not.
  package func pause(after attempts: Int, chance: Double, asked: Double? = nil) -> Double {
    let quick = Self.quickPauses
    let attempts = max(1, attempts)
    let pause =
      attempts <= quick.count
      ? quick[attempts - 1]
      : Self.doubled(Self.firstPause, times: attempts - quick.count - 1)
    return max(varied(pause, chance), Self.bounded(asked))
  }

  /// The pause after a failure of the destination itself, in seconds: its folder is away, or it
  /// refuses the credentials.
  /// - Parameters:
  ///   - failures: of the destination in a row, this one included.
  ///   - isAway: it cannot be connected to; the pause is five minutes at most.
  package func hold(
    after failures: Int, chance: Double, asked: Double? = nil, isAway: Bool = false
  ) -> Double {
    let pause = Self.doubled(Self.firstHold, times: max(1, failures) - 1)
    return max(
      varied(isAway ? min(pause, Self.longestAbsence) : pause, chance), Self.bounded(asked))
  }

  private static func doubled(_ pause: Double, times: Int) -> Double {
    var pause = pause
    for _ in 0..<min(max(0, times), 32) { pause = min(longestPause, pause * 2) }
    return pause
  }

  /// A server may ask for any time, and must not stop a delivery for ever.
  private static func bounded(_ asked: Double?) -> Double {
    guard let asked, asked > 0 else { return 0 }
    return min(asked, longestPause)
  }

  private func varied(_ pause: Double, _ chance: Double) -> Double {
    pause * (1 + jitter * (2 * min(1, max(0, chance)) - 1))
  }
}
