import Foundation
import Platform
import TestSupport
import Testing
import Transcripts

@Suite("Broken and hostile files end in a transcript or in an error that says where")
struct HostileFileTests {
  /// Reads bytes in every format, and looks whether what comes out is sound.
  private func readAll(_ bytes: [UInt8], _ what: @autoclosure () -> String) {
    for format in TranscriptFormat.all {
      guard let transcript = try? format.read(bytes) else { continue }
      #expect(falseTimes(in: transcript) == [], "\(format.name): \(what())")
    }
  }

  private static let files: [[UInt8]] =
    (TranscriptFormat.all.map { try? $0.write(Sample.talk) }.compactMap(\.self) + [
      """
      {"result": {"language": "en"}, "transcription": [{"offsets": {"from": 0, "to": 2000},
      "text": " And so", "tokens": [{"text": " And", "offsets": {"from": 0, "to": 200}, "p": 0.5}]}]}
      """,
      "\"ooTextFile\"\n\"TextGrid\"\n0\n2\n<exists>\n1\n\"IntervalTier\" \"x\" 0 2 1\n0 2 \"a b\"\n",
      "WEBVTT\n\nSTYLE\na\n\nid\n00:01.000 --> 00:02.000\n<v A>x<00:01.500> y</v>\n",
      "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<i>x</i>\n\n",
    ]).map { Array($0.utf8) }

  private static let odd: [[UInt8]] =
    [
      "", "\u{feff}", "\r", "\r\n\r\n", "-->", "99999999999999999999:00:00,000 --> 0", "NaN", "nan",
      "inf", "1e999", "-1", "-0", "0", "[", "{", "\"", "<", "<<", ">", "]", "\t", "\t\t\t", "\u{0}",
      "\u{2028}", "\u{fffd}", "**", "```", "<!--", "[00:", "<00:00:01.000>", "1:1:1:1:1", ":", ",",
      "&amp", "IntervalTier", "{\"segments\":[{\"words\":[{}]}]}", "9223372036854775808",
    ].map { Array($0.utf8) } + [
      [0xff], [0xff, 0xfe], [0xfe, 0xff, 0x00], [0xc3], [0xe9, 0x20], [0xf4, 0x90, 0x80, 0x80],
    ]

  @Test("odd beginnings, ends and middles")
  func pieces() {
    for piece in Self.odd {
      readAll(piece, "\(piece)")
      for file in Self.files {
        readAll(piece + file, "before: \(piece)")
        readAll(file + piece, "behind: \(piece)")
      }
    }
  }

  @Test("long runs of one sign take no more than their length", .timeLimit(.minutes(60)))
  func runs() {
    for piece in [
      "[", "![", "[a](", "<", "<00:00:01.000>", "\"", "{\"a\":", "-->", "**", "我", "&", "\\",
    ] {
      let run = String(repeating: piece, count: 60_000 / piece.utf8.count)
      for beginning in ["", "WEBVTT\n\n00:01.000 --> 00:02.000\n", "[00:01.00]", "{\"text\":\""] {
        readAll(Array((beginning + run).utf8), "\(beginning)\(piece)")
      }
    }
  }

  /// More where `SPOOL_LONG_TESTS` is set.
  private static let rounds =
    ProcessInfo.processInfo.environment["SPOOL_LONG_TESTS"] == nil ? 500 : 20_000

  @Test("files whose bytes are changed, lost, doubled and mixed at random")
  func mutations() throws {
    var random = SeededRandom(seed: 7)
    for round in 0..<Self.rounds {
      var bytes = Self.files.randomElement(using: &random) ?? []
      for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&bytes, &random) }
      for format in TranscriptFormat.all {
        guard let transcript = try? format.read(bytes) else { continue }
        #expect(falseTimes(in: transcript) == [], "round \(round), \(format.name)")
        // What was read can be worked with: it is laid out, written and read again.
        let timed = transcript.interpolatingUntimed
        guard round % 10 == 0, let text = try? format.write(timed) else { continue }
        _ = SubtitleLayout().subtitles(of: timed)
        #expect(throws: Never.self, "round \(round), \(format.name):\n\(text)") {
          _ = try format.read(text)
        }
      }
    }
  }

  private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
    guard let at = bytes.indices.randomElement(using: &random) else { return }
    let end = min(at + Int.random(in: 1...40, using: &random), bytes.count)
    switch Int.random(in: 0..<7, using: &random) {
    case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
    case 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 2: bytes.removeSubrange(at..<end)
    case 3: bytes.insert(contentsOf: bytes[at..<end], at: at)
    case 4: bytes.removeSubrange(at...)
    case 5: bytes.insert(contentsOf: Self.odd.randomElement(using: &random) ?? [], at: at)
    default:
      let other = Self.files.randomElement(using: &random) ?? []
      bytes.replaceSubrange(at..<end, with: other.shuffled(using: &random).prefix(20))
    }
  }

  @Test(
    "an error says the line and the byte in it",
    arguments: [
      ("srt", "1\n00:00:01,000 --> 00:00:0x,000\nHi\n", 2, 25),
      ("srt", "1\n-00:00:01,000 --> 00:00:02,000\nHi\n", 2, 1),
      ("srt", "Hello\n", 1, 1),
      ("vtt", "\n\nWEBVTT\n", 1, 1),
      ("vtt", "WEBVTT\n\n00:00:01.000 --> later\n", 3, 18),
      ("json", "{\"words\": [\n {\"text\": 1}]}", 2, 11),
      ("json", "{\"words\": [\n {\"text\": \"a\", \"startTime\": -1}]}", 2, 29),
      ("json", "{\"words\": [\n {\"text\": \"a\", \"startTime\": NaN}]}", 2, 29),
      ("json", "{\"mood\": {\"a\": [1, \"}\"]}, \"isFinal\": 3}", 1, 38),
      ("json", "[]", 1, 1),
      ("whisper", "{\"segments\": [{}, {\"start\": \"x\"}]}", 1, 29),
      ("whisper", "{\"segments\": [{}, 5]}", 1, 19),
      ("whisper", "{}", 1, 1),
      ("textgrid", "\"ooTextFile\"\n\"TextGrid\"\n0\nno\n", 5, 1),
      ("textgrid", "\"ooTextFile\" \"TextGrid\" 0 1 <exists> 1e9", 1, 38),
      (
        "textgrid",
        "\"ooTextFile\" \"TextGrid\" 0 1\n<exists> 1 \"IntervalTier\" \"a\" 0 1 1 1 0 \"\"", 2, 39
      ),
      ("ctm", "a 1 0.5 0.5 x\na 1 nan 0.5 y\n", 2, 5),
      ("ctm", "a 1 0.5\n", 1, 8),
      ("ctm", "a 1 0.5 0.5 x\nb 1 0.5 0.5 x\n", 2, 1),
      ("audacity", "0.5\t-1\tx\n", 1, 5),
      ("audacity", "0.5 x\t1\tx\n", 1, 5),
      ("lrc", "[00:01.00]a\r[00:xx]b\r", 2, 2),
      ("tsv", "start\tend\ttext\n1\tx\ty\n", 2, 3),
    ] as [(String, String, Int, Int)])
  func places(name: String, text: String, line: Int, column: Int) throws {
    let format = try TranscriptFormat.known(name)
    let error = #expect(throws: SpoolError.self) { try format.read(text) }
    #expect(
      error?.message == "cannot read the transcript as \(name) at line \(line), column \(column)")
  }

  @Test("a file that is too large, or parts into too many words, is refused with figures")
  func limits() throws {
    let large = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000_000)
    for format in TranscriptFormat.all {
      let error = #expect(throws: SpoolError.self) { try format.read(large) }
      #expect(error?.reason?.contains("100000000 bytes, and at most 67108864") == true)
    }
    let error = #expect(throws: SpoolError.self) {
      try TranscriptFormat.recognised(in: large)
    }
    #expect(error?.message == "cannot recognise the transcript")
    let format = try TranscriptFormat.known("text")
    #expect(try format.read(Array("a b c d".utf8), pieceLimit: 3).words.count == 4)
    #expect(throws: SpoolError.self) { try format.read(Array("a b c d e".utf8), pieceLimit: 3) }
  }

  @Test("a name that ends in hyphens makes no timing line of the end of its tag")
  func arrowOfTag() throws {
    let transcript = Transcript(segments: [
      Segment(
        words: [
          TimedWord("1:00", start: 1, end: 2), TimedWord("so", start: 2, end: 3, speaker: "Amy--"),
          TimedWord("it", start: 3, end: 4, speaker: "Bob"),
        ], start: 1, end: 4)
    ])
    let format = try TranscriptFormat.known("vtt")
    let text = try format.write(transcript)
    let found = try format.read(text)
    #expect(found.words.map(\.text) == ["1:00", "so", "it"], "\(text)")
    #expect(found.inTurns.segments.map(\.speaker) == [nil, "Amy--", "Bob"], "\(text)")
  }

  @Test("JSON that is nested beyond reason is refused where it is", arguments: ["json", "whisper"])
  func depth(name: String) throws {
    let text = String(repeating: "{\"segments\":[", count: 5000)
    let error = #expect(throws: SpoolError.self) {
      try TranscriptFormat.known(name).read(text)
    }
    #expect(error?.message.contains(" at line 1, ") == true)
  }

  @Test("text in other encodings is read", arguments: TranscriptFormat.all)
  func encodings(format: TranscriptFormat) throws {
    var transcript = Sample.talk
    transcript.segments[0] = Segment(
      words: [TimedWord("Äußerst", start: 0.5, end: 2)], start: 0.5, end: 2, speaker: "Amy")
    let text = try format.write(transcript)
    let expected = try format.read(text)
    #expect(expected.words.first?.text == "Äußerst")
    #expect(try format.read([0xef, 0xbb, 0xbf] + Array(text.utf8)) == expected)
    let latin = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    #expect(try format.read(latin) == expected)
    let little = text.utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    #expect(try format.read([0xff, 0xfe] + little) == expected)
    let big = text.utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    #expect(try format.read([0xfe, 0xff] + big) == expected)
    for lineEnd in ["\r\n", "\r"] {
      #expect(try format.read(text.replacing("\n", with: lineEnd)) == expected)
    }
    #expect(try format.recognisedAgain(in: [0xff, 0xfe] + little))
  }

  @Test("times that nobody can write are refused before they are written")
  func untold() throws {
    for time in [Double.nan, .infinity, -1, 1e300] {
      let words = [TimedWord("a", start: time, end: 2)]
      for format in TranscriptFormat.all {
        let error = #expect(throws: SpoolError.self) {
          try format.write(Transcript(segments: [Segment(words: words)]))
        }
        #expect(error?.message == "cannot write the transcript as \(format.name)")
        #expect(error?.reason?.contains("segment 1, word 1") == true)
      }
    }
    let doubtful = [TimedWord("a", start: 1, end: 2, confidence: .nan)]
    #expect(throws: SpoolError.self) {
      try TranscriptFormat.known("text").write(Transcript(segments: [Segment(words: doubtful)]))
    }
  }

  @Test("text without times is refused by formats that have no place for it, and says which")
  func untimed() throws {
    let transcript = Transcript(segments: [
      Segment(words: [TimedWord("a", start: 1, end: 2)]), Segment(text: "b c"),
    ])
    for name in ["srt", "vtt", "textgrid", "ctm", "audacity", "lrc", "tsv"] {
      let format = try TranscriptFormat.known(name)
      let error = #expect(throws: SpoolError.self) { try format.write(transcript) }
      #expect(error?.reason?.contains("segment 2") == true)
      #expect(error?.advice != nil)
      #expect(throws: Never.self) {
        _ = try format.write(transcript.interpolatingUntimed)
      }
    }
  }
}

extension TranscriptFormat {
  /// Whether a file is recognised as this one by its name.
  fileprivate func recognisedAgain(in bytes: [UInt8]) throws -> Bool {
    try Self.recognised(in: bytes, fileName: "a" + (nameEndings.first ?? "")) == self
  }
}
