import TestSupport
import Testing
import Transcripts

@Suite("Labels of plain text are speakers where they are likely to be, and otherwise text")
struct SpeakerLabelTests {
  private static func speakers(_ text: String) throws -> [String?] {
    try TranscriptFormat.known("text").read(text).segments.map(\.speaker)
  }

  @Test(
    "a colon alone makes no speaker",
    arguments: [
      "Three points:\n\nThe fox.\n\nRemember: mend it.\n\nMy question is: who?",
      "Three points:", "Remember: mend it.", "Remember:\nmend it.", "[Applause]:",
      "One thing: a\n\ntwo\n\nAnother thing: b\n\nthree", "PART ONE:\n\nIt began.",
    ])
  func text(_ text: String) throws {
    #expect(try Self.speakers(text).allSatisfy { $0 == nil })
  }

  @Test(
    "names that recur, that begin most paragraphs, in capitals and in brackets are speakers",
    arguments: [
      ("Amy: a\n\nb\n\nc\n\nd\n\nAmy: e", ["Amy", nil, nil, nil, "Amy"]),
      ("Amy: a\n\nDr. Smith: b\n\nc", ["Amy", "Dr. Smith", nil]),
      ("a\n\nb\n\nJACK: c", [nil, nil, "JACK"]), ("a\n\nb\n\n[jack]: c", [nil, nil, "jack"]),
      ("Amy:\n\na\n\nBob: b\n\nAmy:\n\nc\n\nBob:", ["Amy", "Bob", "Amy", nil]),
      ("李雷：你好\n\n韩梅梅：好", ["李雷", "韩梅梅"]),
    ] as [(String, [String?])])
  func names(text: String, speakers: [String?]) throws {
    #expect(try Self.speakers(text) == speakers)
  }

  @Test("every word comes out once, as a speaker's name or as text, and no segment is empty")
  func everyWord() throws {
    let pieces = [
      "Remember:", "a", "My question is:", "Amy:", "JACK:", "[Bob]:", ":", "10:30", "x:y", "Oh.",
      "李雷：", "\n", "\n\n", "\n\n", "[Music]", "Amy: hi", "::",
    ]
    for seed in 1...300 as ClosedRange<UInt64> {
      var random = SeededRandom(seed: seed)
      let text = (0..<Int.random(in: 1...14, using: &random))
        .map { _ in pieces.randomElement(using: &random) ?? "a" }.joined(separator: " ")
      let read = try TranscriptFormat.known("text").read(text)
      #expect(Self.signs(read) == Self.signs(text), "\(text)")
      #expect(read.segments.allSatisfy { !$0.words.isEmpty }, "\(text)")
      var timed = read
      for index in timed.segments.indices {
        for word in timed.segments[index].words.indices {
          timed.segments[index].words[word].start = Double(index)
          timed.segments[index].words[word].end = Double(index) + 0.5
        }
      }
      for format in TranscriptFormat.all where seed <= 40 {
        // These tell names where the text would begin.
        let isNaming = ["text", "srt"].contains(format.name)
        let back = try format.read(
          format.write(timed, WritingOptions(namesSpeakers: isNaming)))
        #expect(
          isNaming
            ? Self.signs(back) == Self.signs(read)
            : back.words.map(\.text).joined() == read.words.map(\.text).joined(),
          "\(format.name): \(text)")
      }
    }
  }

  /// Letters and digits in order, those of names too.
  private static func signs(_ transcript: Transcript) -> String {
    signs(transcript.segments.map { ($0.speaker ?? "") + $0.text }.joined())
  }

  private static func signs(_ text: String) -> String {
    text.filter { $0.isLetter || $0.isNumber }
  }

  @Test("what describes the sound is told from what is spoken")
  func directions() {
    let transcript = Transcript(segments: [
      Segment(text: "[APPLAUSE] And (pause) so [inaudible], (see below) [a]b [no end"),
      Segment(text: "(soft music) end] “x” [crosstalk and noise]. (laughs"),
    ])
    let marked = zip(transcript.words, StageDirections.marked(in: transcript))
      .compactMap { $1 ? $0.text : nil }
    #expect(
      marked == [
        "[APPLAUSE]", "(pause)", "[inaudible],", "(soft", "music)", "[crosstalk", "and", "noise].",
      ])
  }

  @Test("segments in which nothing is said are never written", arguments: TranscriptFormat.all)
  func empty(format: TranscriptFormat) throws {
    var transcript = Sample.talk
    transcript.segments.insert(Segment(text: " ", speaker: "Remember"), at: 1)
    #expect(try format.write(transcript) == format.write(Sample.talk))
  }

  @Test("times and confidences are rounded to thousandths")
  func rounding() {
    let words = [
      TimedWord("a", start: 1.0559999999999998, end: 2.0004, confidence: 0.9099999999999999)
    ]
    let rounded = Transcript(segments: [Segment(words: words, start: 0.1 + 0.2)]).rounded
    #expect(rounded.words == [TimedWord("a", start: 1.056, end: 2, confidence: 0.91)])
    #expect(rounded.segments.first?.start == 0.3)
  }
}
