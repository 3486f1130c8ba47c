extension Timestamp {
  /// Reads a calendar date with or without a time of day, in the forms of ISO 8601 that programs
  /// write: extended (`2026-11-21T14:05:33.5+01:00`) or basic (`20261121T140533Z`), with `T` or a
  /// space, with a point or a comma before the fraction, without seconds, without a zone. Nil for
  /// anything else.
  public init?(iso8601 text: String) {
    var rest = DigitScanner(text)
    guard let year = rest.number(digits: 4) else { return nil }
    let isExtended = rest.skip("-")
    guard let month = rest.number(digits: 2), !isExtended || rest.skip("-"),
      let day = rest.number(digits: 2)
    else { return nil }
    var clock = Clock()
    if !rest.isAtEnd {
      guard rest.skip("T") || rest.skip("t") || rest.skip(" "), let read = Clock(&rest),
        rest.isAtEnd
      else { return nil }
      clock = read
    }
    self.init(
      year: year, month: month, day: day, hour: clock.hour, minute: clock.minute,
      second: clock.second, nanosecond: clock.nanosecond, utcOffset: clock.utcOffset)
  }

  /// The part behind the `T`.
  private struct Clock {
    var hour = 0
    var minute = 0
    var second = 0
    var nanosecond = 0
    var utcOffset: Int?

    init() {}

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
