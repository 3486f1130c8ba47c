import Foundation
import Platform
import Testing

@Suite("Times as they were written")
struct DateTimeTests {
  @Test(
    "ISO 8601 is read in the forms that programs write",
    arguments: [
      ("2026-11-21T14:05:33Z", "2026-11-21T14:05:33Z"),
      ("2026-11-21T14:05:33.250+01:00", "2026-11-21T14:05:33.25+01:00"),
      ("2026-11-21T14:05:33,5-0530", "2026-11-21T14:05:33.5-05:30"),
      ("2026-11-21 14:05", "2026-11-21T14:05:00"), ("20261121T140533Z", "2026-11-21T14:05:33Z"),
      ("20261121T1405+01", "2026-11-21T14:05:00+01:00"), ("2026-11-21", "2026-11-21"),
      ("20261121", "2026-11-21"), ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"),
      ("1904-01-01T00:00:00.000000Z", "1904-01-01T00:00:00Z"),
      ("2026-11-21t14:05:33.123456789999z", "2026-11-21T14:05:33.123456789Z"),
    ])
  func read(text: String, written: String) {
    #expect(DateTime(iso8601: text)?.description == written)
  }

  @Test(
    "what is no time is none",
    arguments: [
      "", "2026", "2026-11", "2026-13-01", "2026-02-29", "2026-11-21T", "2026-11-21T25:00:00Z",
      "2026-11-21T14:05:33Zx", "2026-11-21T14:60", "21.11.2026", "2026-1-2", "2026-11-21T14:05:33.",
      "2026-11-21T14:05+24:00", "now", "0000-01-01", "2026/11/21",
    ])
  func refused(text: String) {
    #expect(DateTime(iso8601: text) == nil)
  }

  @Test("the calendar is Foundation's, over every day of four centuries and more")
  func calendar() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
    for day in stride(from: -25_000, through: 160_000, by: 97) {
      let date = Date(timeIntervalSince1970: Double(day * 86_400 + 3661))
      let parts = calendar.dateComponents([.year, .month, .day], from: date)
      let written = DateTime(
        year: parts.year ?? 0, month: parts.month ?? 0, day: parts.day ?? 0, hour: 1, minute: 1,
        second: 1, utcOffset: 0)
      let time = try #require(written)
      #expect(time.secondsSince1970() == Int64(day * 86_400 + 3661))
      #expect(DateTime(iso8601: time.description) == time)
    }
  }

  @Test("a time without a zone is placed by whoever knows the zone, one with a zone is not")
  func zones() throws {
    let local = try #require(DateTime(iso8601: "1970-01-01T02:00:00"))
    #expect(local.secondsSince1970(assumingOffset: 3600) == 3600)
    let zoned = try #require(DateTime(iso8601: "1970-01-01T02:00:00+02:00"))
    #expect(zoned.secondsSince1970(assumingOffset: 3600) == 0)
  }

  @Test("a time in UTC is rounded to the millisecond")
  func milliseconds() {
    #expect(DateTime.text(of: 0) == "1970-01-01T00:00:00.000Z")
    #expect(DateTime.text(of: 1_790_000_000.1196) == "2026-09-21T14:13:20.120Z")
  }

  @Test("in JSON a time is a text in UTC to the millisecond, always with three digits")
  func json() throws {
    #expect(JSONText.of(DateTime(secondsSince1970: 0)) == #""1970-01-01T00:00:00.000Z""#)
    #expect(
      JSONText.of(DateTime(secondsSince1970: 1_790_000_000.1196)) == #""2026-09-21T14:13:20.120Z""#)
    let written = try #require(DateTime(iso8601: "2026-11-21T14:05:33.5+01:00"))
    #expect(JSONText.of(written) == #""2026-11-21T13:05:33.500Z""#)
    #expect(written.seconds == 1_795_266_333.5)
  }

  @Test("a stamp names the second that has begun, with every number at full width")
  func stamp() {
    #expect(DateTime.stamp(of: 0) == "19700101-000000")
    #expect(DateTime.stamp(of: 1_790_000_000.999) == "20260921-141320")
    #expect(DateTime.stamp(of: 951_782_399) == "20000228-235959")
    #expect(DateTime.stamp(of: 951_782_400) == "20000229-000000")
  }
}
