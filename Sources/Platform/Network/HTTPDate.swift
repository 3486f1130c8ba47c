/// The dates of HTTP: `Fri, 27 Nov 2026 19:27:12 GMT` (RFC 9110, 5.6.7).
package enum HTTPDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Seconds since 1970; nil for another form.
  package static func seconds(of text: String) -> Double? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2]))
    else { return nil }
    var day = DigitScanner(parts[1])
    var year = DigitScanner(parts[3])
    var clock = DigitScanner(parts[4])
    guard let day = day.number(digits: 2), let year = year.number(digits: 4),
      let hour = clock.number(digits: 2), clock.skip(":"), let minute = clock.number(digits: 2),
      clock.skip(":"), let second = clock.number(digits: 2), clock.isAtEnd
    else { return nil }
    return DateTime(
      year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second,
      utcOffset: 0)?.seconds
  }
}

extension HTTPResponse {
  /// Seconds since 1970, from the header `Last-Modified`.
  package var lastModified: Double? { self["last-modified"].flatMap(HTTPDate.seconds) }

  /// The length of what a HEAD request would give, from the header.
  package var contentLength: Int? { self["content-length"].flatMap { Int($0) } }

  /// The seconds that the server asks to wait for, at most a day.
  package var retryAfter: Double? {
    guard let text = self["retry-after"] else { return nil }
    let seconds =
      UInt32(text).map(Double.init)
      ?? HTTPDate.seconds(of: text).map { $0 - Double(Clock.now()) / 1e9 }
    return seconds.map { min(max($0, 0), 86_400) }
  }
}
