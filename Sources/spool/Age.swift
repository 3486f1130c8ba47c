import Arguments

/// A stretch of time as users type it: `30d`, `12h`, `2 weeks`.
struct Age: ArgumentValue {
  /// How long it is.
  let seconds: Double
  let argument: String

  static let expectation = "an age like 12h, 30d or 4w"

  init?(argument: String) {
    guard let (number, unit) = NumberWithUnit.parse(argument) else { return nil }
    let factor: Double? =
      switch unit {
      case "s", "second", "seconds": 1
      case "min", "minute", "minutes": 60
      case "h", "hour", "hours": 3600
      case "d", "day", "days": 86400
      case "w", "week", "weeks": 7 * 86400
      default: nil
      }
    guard let factor else { return nil }
    seconds = number * factor
    self.argument = argument
  }
}
