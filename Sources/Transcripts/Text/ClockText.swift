/// Times as files have them.
enum ClockText {
  /// Milliseconds, rounded to the nearest.
  static func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1000).rounded()) }

  /// `01:02:03.456`; hours have as many digits as they need, and at least two.
  static func hours(_ seconds: Double, point: String) -> String {
    let total = milliseconds(seconds)
    return padded(total / 3_600_000, 2) + ":" + padded(total / 60_000 % 60, 2) + ":"
      + padded(total / 1000 % 60, 2) + point + padded(total % 1000, 3)
  }

  /// `62:03.45`: minutes, seconds and hundredths.
  static func minutes(_ seconds: Double) -> String {
    let total = Int((seconds * 100).rounded())
    return padded(total / 6000, 2) + ":" + padded(total / 100 % 60, 2) + "."
      + padded(total % 100, 2)
  }

  /// `3723.456`: seconds with as many decimals as are asked for, at most six.
  static func seconds(_ seconds: Double, decimals: Int) -> String {
    let unit = (0..<decimals).reduce(1) { unit, _ in unit * 10 }
    let total = Int((seconds * Double(unit)).rounded())
    return "\(total / unit).\(padded(total % unit, decimals))"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
