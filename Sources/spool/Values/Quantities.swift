import PipelineModel
import Platform

/// A duration: `30d`, `12h`, `2 weeks`.
struct Age: ArgumentValue {
  let seconds: Double
  let argument: String

  static let expectation = "an age like 30m, 12h, 30d or 4w"

  init?(argument: String) {
    guard let (number, unit) = numberAndUnit(argument) else { return nil }
    let factor: Double? =
      switch unit {
      case "s", "second", "seconds": 1
      case "m", "min", "minute", "minutes": 60
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

/// A position in a recording: `12:04`, `00:12:04.5`, `724.5`, `3 min`.
struct MediaTime: ArgumentValue {
  let seconds: Double
  let argument: String

  static let expectation = "a time, like 00:12:04, 12:04.5 or 724.5"

  init?(argument: String) {
    guard let seconds = try? Unit.seconds.parse(argument), 0 <= seconds, seconds < 1e9 else {
      return nil
    }
    self.seconds = seconds
    self.argument = argument
  }
}

/// Splits text such as `30d` and `1.5 GB` into the number, finite and not negative, and the unit,
/// which is required.
func numberAndUnit(_ text: String) -> (number: Double, unit: String)? {
  let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
  let unit = text.dropFirst(digits.count).drop { $0 == " " }
  guard let number = Double(digits), number.isFinite, !unit.isEmpty else { return nil }
  return (number, String(unit))
}
