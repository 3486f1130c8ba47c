import Testing
import Transcripts

@Suite("A transcript tells when a phrase is said")
struct PhraseTests {
  private static let said =
    ["Call", "the", "garage.", "It's", "the", "twenty-one", "cars;", "call", "them!"]

  private let transcript: Transcript

  init() {
    let words = Self.said.enumerated().map { index, word in
      TimedWord(word, start: Double(index), end: Double(index) + 0.75)
    }
    transcript = Transcript(segments: [
      Segment(text: Self.said.joined(separator: " "), words: words)
    ])
  }

  @Test("whatever its case and punctuation, and nothing that only looks like it")
  func phrases() {
    #expect(transcript.times(of: "the GARAGE") == [1..<2.75])
    #expect(transcript.times(of: "garage – its, the") == [2..<4.75])
    #expect(transcript.times(of: "twenty one cars") == [5..<6.75])
    #expect(transcript.times(of: "call") == [0..<0.75, 7..<7.75])
    #expect(transcript.times(of: "call garage") == [])
    #expect(transcript.times(of: "gar") == [])
    #expect(transcript.times(of: " … ") == [])
    #expect(transcript.times(of: Self.said.joined(separator: " ")) == [0..<8.75])
  }

  @Test("of which those words are quoted that lie in it in whole or in part")
  func range() {
    #expect(transcript.words(in: 1.5..<3.1).map(\.text) == ["the", "garage.", "It's"])
    #expect(transcript.words(in: 0.8..<0.9) == [])
  }

  @Test("and where its first or last word has no time, it is said nowhere")
  func untimed() {
    var other = transcript
    other.segments[0].words[2].start = nil
    other.segments[0].words[2].end = nil
    #expect(other.times(of: "the garage") == [])
    #expect(other.times(of: "the garage its") == [1..<3.75])
    #expect(other.words(in: 0..<10).count == 8)
  }
}
