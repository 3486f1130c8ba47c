/// When an authority that gave no token is asked again.
enum StampBackoff {
  /// The pause after the first attempt, in seconds.
  static let first = 60.0
  /// The longest pause, in seconds.
  static let longest = 6 * 3600.0

  /// The pause after the `attempt`th attempt, counted from 1, in seconds: it doubles each time.
  /// - Parameter chance: from 0 to 1, by which the pause is shortened by up to a tenth, so that what
  ///   failed together is not tried together.
  static func pause(after attempt: Int, chance: Double) -> Double {
    let doublings = Double(min(max(attempt - 1, 0), 30))
    return min(longest, first * exponential(doublings)) * (1 - 0.1 * chance)
  }

  private static func exponential(_ doublings: Double) -> Double {
    Double(sign: .plus, exponent: Int(doublings), significand: 1)
  }
}
