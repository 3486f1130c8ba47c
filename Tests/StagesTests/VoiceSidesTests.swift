import Speech
@testable import Stages
import Testing
import Transcripts

@Suite("Who speaks on which side") struct VoiceSidesTests {
  /// A channel with noise of this level in each second.
  private static func trace(_ levels: [Float]) -> LevelTrace {
    var trace = LevelTrace()
    for level in levels {
      let samples = (0..<16_000).map {
        Int16($0.isMultiple(of: 2) ? level * 32767 : -level * 32767)
      }
      trace.add(samples.span)
    }
    return trace
  }

  /// Words that are spoken a second each.
  private static func places(_ confidences: [Double]) -> [AlignedWord] {
    confidences.enumerated().map {
      AlignedWord(start: Double($0), end: Double($0 + 1), confidence: $1, isHeard: $1 > 0)
    }
  }

  @Test("a speaker is where he is the loudest on the whole")
  func named() {
    let transcript = Transcript(segments: [
      Segment(text: "one two", speaker: "Anna"), Segment(text: "three four", speaker: "Ben"),
      Segment(text: "five", speaker: "Anna"),
    ])
    let sides = VoiceSides(
      of: transcript, at: Self.places([0.9, 0.9, 0.9, 0.9, 0.9]),
      in: [Self.trace([0.5, 0.01, 0.02, 0.4, 0.5]), Self.trace([0.1, 0.3, 0.4, 0.5, 0.1])])
    #expect(sides.channels == [0, 0, 1, 1, 0])
    #expect(sides.speakers == ["Anna": 0, "Ben": 1])
  }

  @Test("without names, each sentence has its side; what was not heard goes with what came before")
  func sentences() {
    let transcript = Transcript(segments: [Segment(text: #"One two. "Three!" Four five. Six"#)])
    let sides = VoiceSides(
      of: transcript, at: Self.places([0.9, 0.9, 0.9, 0, 0.2, 0.8]),
      in: [Self.trace([0.5, 0.1, 0, 0.5, 0.5, 0.5]), Self.trace([0, 0.2, 0.5, 0, 0, 0])])
    #expect(sides.channels == [0, 0, 1, 1, 1, 0])
    #expect(sides.speakers.isEmpty)
  }

  @Test("a speaker of whom nothing was heard is on the side that nobody else is on")
  func drowned() {
    let transcript = Transcript(segments: [
      Segment(text: "one two", speaker: "Ben"), Segment(text: "three four", speaker: "Anna"),
    ])
    let sides = VoiceSides(
      of: transcript, at: Self.places([0, 0.1, 0.9, 0.9]),
      in: [Self.trace([0.5, 0.5, 0.5, 0.5]), Self.trace([0.2, 0.2, 0.2, 0.2])])
    #expect(sides.speakers == ["Ben": 1, "Anna": 0] && sides.channels == [1, 1, 0, 0])
  }

  @Test("where all is silent, or nothing was heard, everything is on the first channel")
  func nothing() {
    let transcript = Transcript(segments: [Segment(text: "one two", speaker: "Anna")])
    let silent = [Self.trace([0, 0]), Self.trace([0, 0])]
    #expect(
      VoiceSides(of: transcript, at: Self.places([0, 0]), in: silent).channels == [0, 0])
    #expect(
      VoiceSides(of: transcript, at: Self.places([0.9, 0.9]), in: silent).speakers
        == ["Anna": 0])
  }
}
