import TestSupport
import Transcripts

/// Random transcripts of a shape: what a format can hold is one.
struct RandomTranscript {
  /// Who says something.
  enum Speakers { case nobody, segments, words }
  /// Which words have times.
  enum Times { case none, all, wholeSegments, some }

  var words = RandomTranscript.plainWords
  var names = ["Amy", "Bob", "Dr. Smith", "SPEAKER_00", "李雷", "speaker 2"]
  var speakers = Speakers.nobody
  var times = Times.wholeSegments
  var hasSegmentTimes = true
  /// Times are whole numbers of these, in parts of a second.
  var grid = 1000.0
  var hasLines = true
  var hasConfidence = false
  var hasFlags = false
  var languages: [String?] = [nil]
  var segmentCount = 0...6
  var wordCount = 1...12

  static let plainWords = [
    "a", "the", "Hello,", "world!", "well-known", "$3.50", "2025", "No.", "7", "don't", "Ünïcödé",
    "naïve", "שלום", "مرحبا", "👩‍👩‍👧", "e\u{301}t\u{e9}", "“so”", "(x)", "…", "x=y", "50%", "A",
  ]
  static let oddWords =
    plainWords + [
      "&amp;", "<i>", "</v>", "a<b", "-->", "[x]", "*", "_x_", "`", "#1", "1.", "-", "\"", "\"\"",
      "\\", "{", "a\\", "~~", "**b**", ">", "|", "+", "![a](b)", ";;", "!", "---", "<00:00:01.000>",
      "x\"\u{301}", "[\u{301}x]",
    ]

  /// What subtitles, lyrics and stamped transcripts could take for their own codes.
  static let codeWords =
    plainWords + [
      "<i>", "</b>", "<font", "a<i>b", "<\u{2060}i>", "{\\an8}", "{\u{2060}\\an8}", "00:01", "-->",
      "<00:01.00>", "[00:01.00]", "[\u{2060}00:01.00]", "(1:02:03)", "--\u{2060}>",
    ]

  func transcript(_ random: inout SeededRandom) -> Transcript {
    var clock = Int.random(in: 0...2000, using: &random)
    func later(_ limit: Int) -> Double {
      clock += Int.random(in: 0...limit, using: &random)
      return Double(clock) / grid
    }
    var segments: [Segment] = []
    for _ in 0..<Int.random(in: segmentCount, using: &random) {
      // What follows begins later, so that its order is certain.
      clock += 1
      let start = later(1500)
      var said: [TimedWord] = []
      let areTimed = times == .all || times != .none && Bool.random(using: &random)
      for _ in 0..<Int.random(in: wordCount, using: &random) {
        var word = TimedWord(words.randomElement(using: &random) ?? "a")
        if areTimed, times != .some || Bool.random(using: &random) {
          word.start = later(200)
          clock += 1
          word.end = later(900)
        }
        if hasConfidence {
          word.confidence = Double(Int.random(in: 0...1000, using: &random)) / 1000
        }
        if hasFlags { word.flags = WordFlags(rawValue: UInt8.random(in: 0..<64, using: &random)) }
        said.append(word)
      }
      clock += 1
      let end = later(500)
      var segment = Segment(text: "", words: said)
      segment.text = said.map(\.text).reduce(into: "") { text, word in
        let isBroken = hasLines && Int.random(in: 0..<4, using: &random) == 0
        text += (text.isEmpty ? "" : isBroken ? "\n" : " ") + word
      }
      if hasSegmentTimes { (segment.start, segment.end) = (start, end) }
      speak(&segment, &random)
      segments.append(segment)
    }
    return Transcript(language: languages.randomElement(using: &random) ?? nil, segments: segments)
  }

  private func speak(_ segment: inout Segment, _ random: inout SeededRandom) {
    switch speakers {
    case .nobody: break
    case .segments:
      if Bool.random(using: &random) { segment.speaker = names.randomElement(using: &random) }
    case .words:
      let voices = segment.words.map { _ in names.randomElement(using: &random) }
      if Set(voices).count == 1 {
        segment.speaker = voices[0]
      } else {
        for (index, voice) in voices.enumerated() { segment.words[index].speaker = voice }
      }
    }
  }
}
