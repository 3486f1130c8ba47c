import Platform
import Testing
import Transcripts

@Suite("A report says how sure a transcript is, and limits say what is broken")
struct QualityReportTests {
  private func words(_ text: String, from start: Double = 0, each: Double = 0.4) -> [TimedWord] {
    text.split(separator: " ").enumerated().map { index, word in
      TimedWord(
        String(word), start: start + Double(index) * each, end: start + Double(index + 1) * each)
    }
  }

  private func report(
    _ words: [TimedWord], speech: [Range<Double>]? = nil
  ) -> QualityReport {
    QualityReport(on: Transcript(segments: [Segment(words: words)]), speech: speech)
  }

  @Test("shares are of all words, and those of times are 1 together")
  func shares() {
    let report = report([
      TimedWord("a", start: 0, end: 1, confidence: 0.9),
      TimedWord("b", start: 1, end: 1.5, confidence: 0.1, flags: .interpolated),
      TimedWord("c", start: 2), TimedWord("d", start: 2, end: 2.25, flags: .uncertain),
    ])
    #expect(report.wordCount == 4)
    #expect(report.timed == 0.5)
    #expect(report.interpolated == 0.25)
    #expect(report.untimed == 0.25)
    #expect(report.lowConfidence == 0.5)
    #expect(report.longestWord?.text == "a")
    #expect(report.coverage == nil)
  }

  @Test("an empty transcript is timed, and covers no speech")
  func empty() {
    let report = QualityReport(on: Transcript(), speech: [1..<3, 5..<6])
    #expect(report.timed == 1 && report.wordCount == 0 && report.loops.isEmpty)
    #expect(report.coverage == 0)
    #expect(report.longestUntranscribed?.speech == 3)
    let silent = QualityReport(on: Transcript(), speech: [])
    #expect(silent.coverage == nil && silent.speech == 0)
    #expect(silent.json["coverage"] == nil)
  }

  @Test("a word of 298 seconds is found and named")
  func stretched() {
    var all = words("one two three")
    all.append(TimedWord("four", start: 1.2, end: 299.2))
    let report = report(all)
    #expect(report.longestWord?.text == "four")
    #expect(report.longestWord.map { $0.end - $0.start } == 298)
  }

  @Test("speech that is too fast or too slow is found, pauses and guesses are not")
  func rates() {
    let usual = words(Array(repeating: "letters", count: 64).joined(separator: " "))
    #expect(report(usual).rateOutliers.isEmpty)
    #expect(abs((report(usual).usualRate ?? 0) - 17.5) < 0.1)
    let fast = words("eight words in hardly any time at all", from: 30, each: 0.02)
    let slow = words("eight words that take ever so long each", from: 40, each: 6)
    let found = report(usual + fast + slow).rateOutliers
    #expect(found.map(\.firstWord) == [64, 72])
    #expect(found.map(\.start) == [30, 40])
    #expect((found.first?.charactersPerSecond ?? 0) > 100)
    var guessed = fast
    for index in guessed.indices { guessed[index].flags = .interpolated }
    #expect(report(usual + guessed).rateOutliers.isEmpty)
  }

  @Test("loops are told by their shortest phrase, and speech that repeats itself is none")
  func loops() {
    let talk = "No, no, no. I said it again and again. "
    #expect(report(words(talk + "Bye bye. Bye bye now then.")).loops.isEmpty)
    let circle = Array(repeating: "Thank you for watching!", count: 9).joined(separator: " ")
    let loops = report(words(talk + circle + " the end the end the end the end")).loops
    #expect(loops.map(\.phrase) == ["Thank you for watching!", "the end"])
    #expect(loops.map(\.count) == [9, 4])
    #expect(loops.map(\.firstWord) == [9, 45])
    #expect(loops.first?.start == words(talk + circle)[9].start)
    let hum = report(words(Array(repeating: "mm", count: 100).joined(separator: " "))).loops
    #expect(hum.map(\.count) == [100])
  }

  @Test("coverage, words outside of speech, and the longest speech without words")
  func coverage() {
    // Words from 0 to 4 and from 20 to 22; speech from 1 to 5, 10 to 12, 13 to 16 and 20 to 21.
    let all = words("a b c d e f g h i j") + words("k l m n o", from: 20)
    let report = report(all, speech: [20..<21, 1..<5, 13..<16, 10..<12])
    #expect(abs((report.coverage ?? 0) - 0.4) < 1e-9)
    #expect(abs((report.outsideSpeech ?? 0) - 2.0 / 6) < 1e-9)
    #expect(report.longestUntranscribed?.from == 4)
    #expect(report.longestUntranscribed?.to == 16)
    #expect(report.longestUntranscribed?.speech == 6)
  }

  @Test("the report as JSON has every figure that is known")
  func json() {
    let circle = Array(repeating: "a b c", count: 3).joined(separator: " ")
    let json = report(words(circle), speech: [0..<10]).json
    #expect(json["words"] == .integer(9))
    #expect(json["timed"] == .decimal(1))
    #expect(json["coverage"] != nil)
    #expect(json["longestUntranscribed"]?["speech"] != nil)
    #expect(json["loops"]?.list?.first?["phrase"] == .text("a b c"))
    #expect(report(words(circle)).json["coverage"] == nil)
  }

  @Test("times that make no sense neither crash nor count")
  func nonsense() {
    let odd = [
      TimedWord("a", start: 5, end: 1), TimedWord("b", start: .nan, end: 2),
      TimedWord("c", start: 0, end: .infinity), TimedWord("", start: 1, end: 1),
    ]
    let report = report(odd, speech: [0..<5, 2..<2, 3..<4])
    #expect(report.coverage == 0)
  }
}
