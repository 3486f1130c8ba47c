import Platform
import Testing

@Suite("Times in UTC have one text each")
struct UniversalTimeTests {
  @Test("a time is rounded to the millisecond")
  func milliseconds() {
    #expect(UniversalTime.text(of: 0) == "1970-01-01T00:00:00.000Z")
    #expect(UniversalTime.text(of: 1_790_000_000.1196) == "2026-09-21T14:13:20.120Z")
  }

  @Test("a stamp names the second that has begun, with every number at full width")
  func stamp() {
    #expect(UniversalTime.stamp(of: 0) == "19700101-000000")
    #expect(UniversalTime.stamp(of: 1_790_000_000.999) == "20260921-141320")
    #expect(UniversalTime.stamp(of: 951_782_399) == "20000228-235959")
    #expect(UniversalTime.stamp(of: 951_782_400) == "20000229-000000")
  }
}
