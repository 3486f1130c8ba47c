import Testing
import Transcripts

@Suite("A transcript can be looked at in other ways, and loses nothing but what it was asked to")
struct TranscriptTests {
  @Test("a segment with several speakers is divided where they change")
  func turns() {
    let segment = Segment(
      text: "Well, hi.\nYes? Now!",
      words: [
        TimedWord("Well,", start: 1, end: 2), TimedWord("hi.", start: 2, end: 3, speaker: "Amy"),
        TimedWord("Yes?", start: 3, end: 4, speaker: "Bob"),
        TimedWord("Now!", start: 5, end: 6, speaker: "Bob"),
      ], start: 0.5, end: 7, speaker: "Amy")
    let turns = Transcript(segments: [segment]).inTurns.segments
    #expect(turns.map(\.text) == ["Well, hi.", "Yes? Now!"])
    #expect(turns.map(\.speaker) == ["Amy", "Bob"])
    #expect(turns.map(\.start) == [0.5, 3])
    #expect(turns.map(\.end) == [3, 7])
    #expect(turns.flatMap(\.words).allSatisfy { $0.speaker == nil })
  }

  @Test("times in between lie evenly by the letters, and are flagged")
  func interpolation() {
    let transcript = Transcript(segments: [
      Segment(words: [TimedWord("a", start: 0, end: 1), TimedWord("bbb"), TimedWord("b")]),
      Segment(words: [TimedWord("c", start: 7, end: 8)]), Segment(text: "x y"),
    ])
    let words = transcript.interpolatingUntimed.words
    #expect(words.map(\.start) == [0, 1, 5, 7, 8, 8])
    #expect(words.map(\.end) == [1, 5, 7, 8, 8, 8])
    #expect(
      words.map { $0.flags.contains(.interpolated) } == [false, true, true, false, true, true])
    let plain = Transcript(segments: [Segment(text: "x y")])
    #expect(plain.interpolatingUntimed == plain)
  }

  @Test("flags have names, and names that nobody knows are passed over")
  func flags() {
    for bit in 0..<6 {
      let flag = WordFlags(rawValue: 1 << UInt8(bit))
      #expect(flag.names.count == 1)
      #expect(WordFlags(names: flag.names + ["new"]) == flag)
    }
  }

  @Test("words are joined with spaces, but not where a script has none")
  func joined() {
    let words = ["你好", "世界。", "OK", "then"].map { TimedWord($0) }
    #expect(Segment(words: words).text == "你好世界。 OK then")
    #expect(Segment(text: " a\u{a0}b\n\u{3000}c ").words.map(\.text) == ["a", "b", "c"])
  }
}
