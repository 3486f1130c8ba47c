@testable import Speech
import Testing

@Suite("Words against any sounds") struct SoundLoopTests {
  @Test("rows that are spoken are sure, and no words are where there is silence")
  func rows() throws {
    let sentence = "please call me back on monday morning"
    let sound = try SpeechSamples.spoken(sentence)
    let right = try heard(sentence, in: sound)
    #expect(right.count { ($0.evidence ?? 0) > 150 } >= 6)
    #expect((right.meanScore ?? -10) > -2)
    let wrong = try heard("forty winters shall besiege thy brow", in: sound)
    #expect(!wrong.contains { ($0.evidence ?? 0) > 100 })
    let none = try heard(sentence, in: Array(repeating: 0, count: 32_000))
    #expect(none.isEmpty)
  }

  @Test("what speaks for words grows with their time, and with how well they fit")
  func evidence() {
    func evidence(_ scores: Double...) -> [Double] {
      let run = scores.enumerated().map {
        DecodedWord(key: "a", frames: 30 * $0.offset..<30 * $0.offset + 30, score: $0.element)
      }
      return DecodedWord.judged(run).compactMap(\.evidence)
    }
    #expect(evidence(-1, -1) == [120, 120])
    #expect(evidence(-2, -2, -2) == [90, 90, 90])
    #expect(evidence(-4, -2, -3) == [0, 0, 0])
    #expect(evidence(-1)[0] < evidence(-1.9, -1.9)[0])
  }

  @Test("in a longer time, more must speak for a row")
  func limits() {
    func word(_ evidence: Double?) -> DecodedWord {
      DecodedWord(key: "a", frames: 0..<30, score: -1, evidence: evidence)
    }
    #expect(RunLimit(in: 200, wordCount: 5).allows(word(30)))
    #expect(!RunLimit(in: 400, wordCount: 5).allows(word(30)))
    #expect(RunLimit(in: 360_000, wordCount: 5).allows(word(100)))
    #expect(!RunLimit(in: 360_000, wordCount: 5).allows(word(99)))
    #expect(RunLimit(in: 360_000, wordCount: 5).allows(word(nil)))
    #expect(RunLimit(in: 360_000, wordCount: 1).allows(word(0)))
  }

  private func heard(_ text: String, in sound: [Int16]) throws -> [DecodedWord] {
    let words = text.split(separator: " ").map(String.init)
    let lexicon = try Lexicon(of: Set(words), model: .english)
    let model = try SoundModel(folder: AcousticModel.english.folder)
    return try ModelFollower(model, of: [words], lexicon).hear(sound.span)
  }
}
