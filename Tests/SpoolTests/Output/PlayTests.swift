import Audio
import Testing

@testable import spool

@Suite struct KeyParserTests {
  @Test func `keys are found in what a terminal sends, whole or in parts`() {
    var parser = KeyParser()
    #expect(
      parser.take(Array("a \u{1B}[Cq".utf8)) == [
        .character("a"), .character(" "), .right, .character("q"),
      ])
    #expect(parser.take([0x1B]) == [])
    #expect(parser.take(Array("O".utf8)) == [])
    #expect(parser.take(Array("D".utf8)) == [.left])
  }

  @Test func `other keys are dropped whole`() {
    var parser = KeyParser()
    // Up, Delete, Shift with Right, é, Escape before a letter.
    #expect(parser.take(Array("\u{1B}[A\u{1B}[3~\u{1B}[1;2Cé".utf8)) == [])
    #expect(parser.take(Array("\u{1B}x".utf8)) == [.character("x")])
  }
}

@Suite struct ProgrammeTests {
  @Test func `the louder sound is turned down, and silence changes nothing`() {
    #expect(
      Programme.gains([LUFS(-20), LUFS(-16.5)]) == [Decibels(0), Decibels(-3.5)])
    #expect(Programme.gains([nil, LUFS(-16)]) == [Decibels(0), Decibels(0)])
    #expect(Programme.gains([]) == [])
  }
}
