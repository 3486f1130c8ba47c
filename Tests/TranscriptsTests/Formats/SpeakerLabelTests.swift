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

  @Test("captions name speakers as plain text does", arguments: ["srt", "vtt"])
  func captions(format: String) throws {
    func speakers(_ texts: String...) throws -> [[String?]] {
      let cues = texts.enumerated().map { index, text in
        let point = format == "srt" ? "," : "."
        return "00:00:0\(index)\(point)000 --> 00:00:0\(index)\(point)900\n\(text)\n"
      }
      let source = (format == "vtt" ? "WEBVTT\n\n" : "1\n") + cues.joined(separator: "\n")
      let read = try TranscriptFormat.known(format).read(source)
      #expect(read.segments.map(\.start) == texts.indices.map(Double.init))
      return read.segments.map { cue in cue.words.map { $0.speaker ?? cue.speaker } }
    }
    #expect(try speakers("ANNA: a b", "c", "[Ben]: d") == [["ANNA", "ANNA"], [nil], ["Ben"]])
    #expect(
      try speakers("Anna: a", "Anna: b", "c\nAnna: d") == [["Anna"], ["Anna"], [nil, nil, nil]])
    #expect(try speakers("Anna: a", "Ben: b\nAnna: c d") == [["Anna"], ["Ben", "Anna", "Anna"]])
    #expect(try speakers("Remember: a", "b", "c") == [[nil, nil], [nil], [nil]])
  }

  @Test("a caption with the times of its words keeps them, without its speaker's name")
  func karaoke() throws {
    let read = try TranscriptFormat.known("vtt").read(
      """
      WEBVTT

      00:01.000 --> 00:04.000
      ANNA: <00:02.000>one <00:03.000>two
      """)
    #expect(read.segments.map(\.speaker) == ["ANNA"])
    #expect(read.words.map(\.text) == ["one", "two"])
    #expect(read.words.map(\.start) == [2, 3])
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
        let words = Self.signs(read.words.map(\.text).joined())
        #expect(
          Self.signs(back) == (isNaming ? Self.signs(read) : words), "\(format.name): \(text)")
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
