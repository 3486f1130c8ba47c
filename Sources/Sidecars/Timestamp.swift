/// A point in time as it was written: a date and a time of day, and how far that clock was from
/// UTC, if that was written too.
public struct Timestamp: Hashable, Sendable {
  /// Seconds since 1970-01-01T00:00 on the clock that it was read from.
  public let localSeconds: Int64
  /// What comes on top, in nanoseconds.
  public let nanosecond: Int
  /// How far that clock was ahead of UTC, in seconds; nil where nobody said.
  public let utcOffset: Int?

  /// Makes a time of a calendar's numbers; nil where the calendar has no such day, or the clock no
  /// such time.
  public init?(
    year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0,
    nanosecond: Int = 0, utcOffset: Int? = nil
  ) {
    guard (1...9999).contains(year), (1...12).contains(month),
      (1...Self.dayCount(year: year, month: month)).contains(day), (0...23).contains(hour),
      (0...59).contains(minute), (0...60).contains(second),
      (0..<1_000_000_000).contains(nanosecond), abs(utcOffset ?? 0) < 86_400
    else { return nil }
    let days = Self.days(year: year, month: month, day: day)
    localSeconds = Int64(days * 86_400 + hour * 3600 + minute * 60 + second)
    self.nanosecond = nanosecond
    self.utcOffset = utcOffset
  }

  /// Seconds since 1970 in UTC, where a clock that did not say otherwise was `offset` seconds
  /// ahead of UTC.
  public func secondsSince1970(assumingOffset offset: Int = 0) -> Int64 {
    localSeconds - Int64(utcOffset ?? offset)
  }

  /// Days from 1970-01-01 in the Gregorian calendar: Howard Hinnant, "chrono-compatible low-level
  /// date algorithms", `days_from_civil`.
  private static func days(year: Int, month: Int, day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func dayCount(year: Int, month: Int) -> Int {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
  }

  /// Year, month and day: `civil_from_days` of the same source.
  private var civilDay: (year: Int, month: Int, day: Int) {
    let days = Int(localSeconds - Int64(secondOfDay)) / 86_400 + 719_468
    let era = days / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  private var secondOfDay: Int {
    let rest = Int(localSeconds % 86_400)
    return rest < 0 ? rest + 86_400 : rest
  }
}

extension Timestamp: CustomStringConvertible {
  /// The time in ISO 8601, with its distance from UTC where that is known:
  /// `2026-11-21T14:05:33+01:00`.
  public var description: String {
    let (year, month, day) = civilDay
    let time = secondOfDay
    var text =
      "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))"
      + "T\(Self.padded(time / 3600)):\(Self.padded(time / 60 % 60)):\(Self.padded(time % 60))"
    if nanosecond > 0 {
      var digits = Self.padded(nanosecond, 9)[...]
      while digits.hasSuffix("0") { digits.removeLast() }
      text += ".\(digits)"
    }
    guard let utcOffset else { return text }
    if utcOffset == 0 { return text + "Z" }
    let minutes = abs(utcOffset) / 60
    return text + (utcOffset < 0 ? "-" : "+")
      + "\(Self.padded(minutes / 60)):\(Self.padded(minutes % 60))"
  }

  private static func padded(_ number: Int, _ count: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}

extension Timestamp {
  /// A time in UTC, to the millisecond.
  /// - Parameter seconds: since 1970.
  public init(secondsSince1970 seconds: Double) {
    // Dates from year 1 to 9999.
    let limited = seconds.isFinite ? min(max(seconds, -62_135_596_800), 253_402_300_799) : 0
    let milliseconds = Int64((limited * 1000).rounded())
    var (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    if rest < 0 { (whole, rest) = (whole - 1, rest + 1000) }
    localSeconds = whole
    nanosecond = Int(rest) * 1_000_000
    utcOffset = 0
  }
}
