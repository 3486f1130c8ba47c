internal import FoundationEssentials

/// Moments as ISO 8601 in UTC, to the millisecond: `2026-11-21T14:22:05.120Z`.
enum UniversalTime {
  /// The text of a moment in seconds since 1970.
  static func text(of seconds: Double) -> String {
    // The format cuts off what it does not show.
    Date(timeIntervalSince1970: seconds + 0.0005)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}
