internal import FoundationEssentials

/// A time as written: a date, and the time of day and the offset from UTC if given. Its texts have
/// the forms of ISO 8601.
package struct DateTime: Hashable, Sendable {
  /// Seconds since 1970-01-01T00:00 in local time.
  package let localSeconds: Int64
  /// The fraction in nanoseconds.
  package let nanosecond: Int
  /// Seconds ahead of UTC; nil if unknown.
  private let utcOffset: Int?
  /// Whether the time of day is unknown; it counts as midnight.
  private var isDateAlone = false

  /// Nil for a day or time that does not exist.
  package init?(
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

  /// A day without a time. Nil for a day that does not exist.
  package init?(dayOf year: Int, _ month: Int, _ day: Int) {
    self.init(year: year, month: month, day: day)
    isDateAlone = true
  }

  /// Seconds since 1970 in UTC; a time without an offset counts as `offset` seconds ahead of UTC.
  package func secondsSince1970(assumingOffset offset: Int = 0) -> Int64 {
    localSeconds - Int64(utcOffset ?? offset)
  }

  /// Seconds since 1970 in UTC, with the fraction; a time without an offset counts as UTC.
  package var seconds: Double { Double(secondsSince1970()) + Double(nanosecond) / 1e9 }

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

extension DateTime: CustomStringConvertible {
  /// ISO 8601, as far as it is known: `2026-11-21T14:05:33+01:00`, `2026-11-21T14:05:33`, `2026-11-21`.
  package var description: String {
    let (year, month, day) = civilDay
    let time = secondOfDay
    let date = "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(day))"
    if isDateAlone { return date }
    var text =
      date + "T\(Self.padded(time / 3600)):\(Self.padded(time / 60 % 60)):\(Self.padded(time % 60))"
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

extension DateTime: Encodable {
  /// Encodes UTC to the millisecond, in the form of ``text(of:)``.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(Self.text(of: seconds))
  }
}

extension DateTime {
  /// UTC to the millisecond, from seconds since 1970: `2026-11-21T14:22:05.120Z`.
  package static func text(of seconds: Double) -> String {
    // Receipts are signed with this text: the rounding must stay. The format truncates.
    Date(timeIntervalSince1970: seconds + 0.0005)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  /// UTC to the second, for names that sort by time: `20261121-142205`. A fraction is cut off.
  /// - Parameter seconds: since 1970.
  package static func stamp(of seconds: Double) -> String {
    let text = DateTime(secondsSince1970: seconds.rounded(.down)).description
    return text.filter { $0.isNumber || $0 == "T" }.replacing("T", with: "-")
  }

  /// A time in UTC, to the millisecond.
  package init(secondsSince1970 seconds: Double) {
    // Dates from year 1 to 9999.
    let limited = seconds.isFinite ? min(max(seconds, -62_135_596_800), 253_402_300_799) : 0
    let milliseconds = Int64((limited * 1000).rounded())
    var (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    if rest < 0 { (whole, rest) = (whole - 1, rest + 1000) }
    localSeconds = whole
    nanosecond = Int(rest) * 1_000_000
    utcOffset = 0
  }

  /// Reads the common forms of ISO 8601: extended (`2026-11-21T14:05:33.5+01:00`) or basic
  /// (`20261121T140533Z`), date alone, `T` or a space, a point or a comma before the fraction,
  /// seconds and zone optional. Nil for anything else.
  package init?(iso8601 text: String) {
    var rest = DigitScanner(text)
    guard let year = rest.number(digits: 4) else { return nil }
    let isExtended = rest.skip("-")
    guard let month = rest.number(digits: 2), !isExtended || rest.skip("-"),
      let day = rest.number(digits: 2)
    else { return nil }
    if rest.isAtEnd {
      self.init(dayOf: year, month, day)
      return
    }
    guard rest.skip("T") || rest.skip("t") || rest.skip(" "), let clock = TimeOfDay(&rest),
      rest.isAtEnd
    else { return nil }
    self.init(
      year: year, month: month, day: day, hour: clock.hour, minute: clock.minute,
      second: clock.second, nanosecond: clock.nanosecond, utcOffset: clock.utcOffset)
  }

  /// The part behind the `T`.
  private struct TimeOfDay {
    var hour = 0
    var minute = 0
    var second = 0
    var nanosecond = 0
    var utcOffset: Int?

    init?(_ rest: inout DigitScanner) {
      guard let hour = rest.number(digits: 2) else { return nil }
      self.hour = hour
      let isExtended = rest.skip(":")
      guard let minute = rest.number(digits: 2) else { return nil }
      self.minute = minute
      if isExtended ? rest.skip(":") : rest.isAtDigit {
        guard let second = rest.number(digits: 2) else { return nil }
        self.second = second
        if rest.skip(".") || rest.skip(",") {
          guard let fraction = rest.fraction() else { return nil }
          nanosecond = fraction
        }
      }
      if rest.skip("Z") || rest.skip("z") {
        utcOffset = 0
      } else if let sign = rest.skip("+") ? 1 : rest.skip("-") ? -1 : nil {
        guard let hours = rest.number(digits: 2) else { return nil }
        let minutes = rest.skip(":") || rest.isAtDigit ? rest.number(digits: 2) : 0
        guard let minutes, hours < 24, minutes < 60 else { return nil }
        utcOffset = sign * (hours * 3600 + minutes * 60)
      }
    }
  }
}

/// Reads numbers of fixed length from the beginning of a text.
package struct DigitScanner {
  package private(set) var rest: ArraySlice<UInt8>

  package init(_ text: some StringProtocol) { rest = Array(text.utf8)[...] }

  package init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  package var isAtEnd: Bool { rest.isEmpty }

  package var isAtDigit: Bool { rest.first.map(Self.isDigit) ?? false }

  /// Skips one character if it is next.
  package mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard let byte = rest.first, UInt32(byte) == character.value else { return false }
    rest.removeFirst()
    return true
  }

  /// The number of the next `count` digits; nil, without reading, if there are fewer.
  package mutating func number(digits count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  /// The fraction behind a decimal point in billionths; nil if there is none. Digits after the
  /// ninth are ignored.
  mutating func fraction() -> Int? {
    let digits = rest.prefix(while: Self.isDigit)
    guard !digits.isEmpty else { return nil }
    rest = rest.dropFirst(digits.count)
    let padded = Array(digits.prefix(9)) + Array(repeating: UInt8(ascii: "0"), count: 9)
    return padded.prefix(9).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  package static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
