import Arguments
import Glibc

/// A moment as users type it: a date, a date with a time, or how long ago it was.
struct SearchSince: ArgumentValue {
  /// Seconds since 1970.
  let time: Double
  let argument: String

  static let expectation = "a date like 2026-11-22, or an age like 12h or 30d"

  init?(argument: String) {
    self.argument = argument
    if let age = Age(argument: argument) {
      time = SystemClock().now - age.seconds
      return
    }
    guard let date = Self.date(argument) else { return nil }
    time = date
  }

  /// `2026-11-22`, `2026-11-22 14:30`, in local time.
  private static func date(_ text: String) -> Double? {
    let parts = text.split(whereSeparator: { $0 == " " || $0 == "T" })
    guard let day = parts.first, parts.count <= 2 else { return nil }
    let numbers = day.split(separator: "-", omittingEmptySubsequences: false).map { Int32($0) }
    guard numbers.count == 3, let year = numbers[0], let month = numbers[1], let day = numbers[2],
      (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    var fields = unsafe tm()
    unsafe (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year - 1900, month - 1, day)
    unsafe fields.tm_isdst = -1
    if parts.count == 2 {
      let clock = parts[1].split(separator: ":").map { Int32($0) }
      guard (2...3).contains(clock.count), let hour = clock[0], let minute = clock[1],
        (0...23).contains(hour), (0...59).contains(minute)
      else { return nil }
      unsafe (fields.tm_hour, fields.tm_min) = (hour, minute)
    }
    let time = unsafe mktime(&fields)
    // A day that the month does not have becomes another one.
    guard time >= 0, unsafe fields.tm_mday == day else { return nil }
    return Double(time)
  }
}
