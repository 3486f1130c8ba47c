internal import FoundationEssentials

/// Times in UTC as text, in the forms of ISO 8601.
package enum UniversalTime {
  /// To the millisecond: `2026-11-21T14:22:05.120Z`.
  /// - Parameter seconds: since 1970.
  package static func text(of seconds: Double) -> String {
    // The format truncates instead of rounding.
    Date(timeIntervalSince1970: seconds + 0.0005)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// To the second, for names that sort by time: `20261121-142205`. A fraction is cut off.
  /// - Parameter seconds: since 1970.
  package static func stamp(of seconds: Double) -> String {
    let time = Date(timeIntervalSince1970: seconds.rounded(.down))
    let style = Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted)
    return String(time.formatted(style).dropLast()).replacing("T", with: "-")
  }
}
