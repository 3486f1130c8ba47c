import Testing
@testable import spool

@Suite struct CountTests {
  @Test(arguments: [
    (1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (9, "9th"), (11, "11th"), (12, "12th"),
    (13, "13th"), (21, "21st"), (102, "102nd"), (111, "111th"),
  ])
  func ordinals(number: Int, text: String) {
    #expect(Count.ordinal(number) == text)
  }

  @Test("one thing is one thing")
  func plural() {
    #expect(Count.of(1, "kill") == "1 kill")
    #expect(Count.of(0, "kill") == "0 kills")
  }
}
