import Speech
@testable import Stages
import Testing
import Transcripts

@Suite("Words that the end of a line divides") struct HyphenatedWordsTests {
  @Test("are listened for as one word and as two, in their first half")
  func spoken() {
    let words = HyphenatedWords(in: text("a coun-\ntry, well-\nknown")).spoken
    #expect(words.map(\.variants.count) == [1, 2, 0, 2, 0])
    #expect(words[1].variants == [["country"], ["coun", "try"]])
    #expect(words[3].variants == [["wellknown"], ["well", "known"]])
  }

  @Test(
    "are none where the line goes on, a name begins, or the hyphen stands for a word",
    arguments: [
      "coun- try it\nout", "coun-\nTry", "pre-\nand post-war", "a -\nb", "one\ntwo", "12-\ntwo",
    ])
  func others(written: String) {
    #expect(!HyphenatedWords(in: text(written)).goOn.contains(true))
  }

  @Test("share their time by their letters, and all stand where they stood")
  func times() {
    let written = text("a coun-\ntry")
    var timed = written
    timed.segments[0].words[1].start = 1
    timed.segments[0].words[1].end = 8
    timed.segments[0].words[1].confidence = 0.75
    timed.segments[0].words[2].flags = .interpolated
    let words = HyphenatedWords(in: written).shared(timed).words
    #expect(words.map(\.text) == ["a", "coun-", "try"])
    #expect(words[1].end == 5)
    #expect(words[2] == TimedWord("try", start: 5, end: 8, confidence: 0.75))
  }

  private func text(_ text: String) -> Transcript { Transcript(segments: [Segment(text: text)]) }
}
