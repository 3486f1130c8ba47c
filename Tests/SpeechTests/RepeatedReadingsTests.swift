@testable import Speech
import Testing

@Suite("Sentences that are spoken or written again") struct RepeatedReadingsTests {
  private static let fox = "then the quick brown fox jumps over it and runs"

  @Test(
    "a sentence that is said twice is taken from one reading, from the later one of two",
    arguments: [
      ("the quick brown fox jumps over it . the quick brown fox jumps over it", 1),
      ("the quick brown . the quick brown fox jumps over it", 1),
      ("the quick brown fox jumps over it . the quick brown fox", 0),
      ("the quick uh fox jumps over it . the quick brown fox jumps over it", 1),
      ("the quick brown fox jumps over it . the quick uh fox jumps over it", 0),
      ("the uh brown fox jumps over it . the quick brown fox jumps over uh", 1),
      ("the quick the quick brown fox jumps over it", 1),
    ])
  func speech(heard: String, reading: Int) {
    let sounds = sounds("then . \(heard) . and runs")
    let places = RepetitionResolver(of: Self.words(Self.fox), in: sounds, limit, loud: { $0.count })
      .heard
    let later = sounds.lastIndex { $0.key == "the" } ?? 0
    let sentence = places[1...7].compactMap(\.self)
    #expect(sentence.allSatisfy { ($0 >= later) == (reading == 1) }, "\(places)")
    #expect(sentence.count >= 6)
    #expect(places[0] == 0 && places.suffix(2) == [sounds.count - 2, sounds.count - 1])
  }

  @Test("what is said between two readings, and a third one, change nothing")
  func remarks() {
    let fox = "the quick brown fox jumps over it"
    for between in [" . uh . ", " . \(fox) . "] {
      let heard = "then . \(fox)\(between)\(fox) . and runs"
      let sounds = sounds(heard)
      let found = RepetitionResolver(of: Self.words(Self.fox), in: sounds, limit, loud: { _ in 0 })
      #expect(found.heard == [0] + (sounds.count - 9..<sounds.count).map(\.self))
      #expect(found.doubtful.isEmpty)
      #expect(Array(found.beginnings.keys) == [1])
    }
  }

  @Test("words on both sides of other speech are in doubt")
  func others() {
    let heard = "then the quick brown . . . . . . brown fox jumps over it and runs"
    let found = RepetitionResolver(
      of: Self.words(Self.fox), in: sounds(heard), limit, loud: { $0.count })
    #expect(found.doubtful == [3])
    #expect(found.beginnings.isEmpty)
  }

  @Test("words of which some are found amid other speech are in doubt as far as to it")
  func parts() {
    let heard = "then the quick brown fox jumps . . . the quick brown . . . over it and runs"
    let found = RepetitionResolver(
      of: Self.words(Self.fox), in: sounds(heard), limit, loud: { $0.count })
    #expect(found.doubtful == Set(1...5))
    #expect(found.heard.compactMap(\.self).count == 10)
  }

  @Test("words before a reading are in doubt where it may have begun with them")
  func beginning() {
    let fox = "brown fox jumps over it"
    let heard = "then . the quick \(fox) . uh uh \(fox) . and runs"
    func doubtful(loud: @escaping (Range<Int>) -> Int) -> Set<Int> {
      RepetitionResolver(of: Self.words(Self.fox), in: sounds(heard), limit, loud: loud).doubtful
    }
    #expect(doubtful { $0.count } == [1, 2])
    #expect(doubtful { _ in 0 } == [1, 2], "the other one begins with few words, behind a pause")
  }

  @Test(
    "of a sentence that is written twice and said once, one copy is left out",
    arguments: [
      "then the quick brown fox jumps over it and runs",
      "then the quick uh fox jumps over it and runs",
      "then the quick brown fox uh over it and runs",
    ])
  func text(heard: String) {
    let fox = "the quick brown fox jumps over it"
    let words = Self.words("then \(fox) \(fox) and runs")
    let found = RepetitionResolver(of: words, in: sounds(heard), limit, loud: { $0.count })
    #expect(found.heard[1...7].compactMap(\.self).isEmpty)
    #expect(found.heard[8...14].count { $0 != nil } >= 6)
    #expect(found.words.map(\.isSpoken) == (0..<17).map { !(1...7).contains($0) })
  }

  /// Everything may be of the text.
  private var limit: RunLimit { RunLimit(in: 0, wordCount: 10) }

  private static func words(_ text: String) -> [SpokenWord] {
    text.split(separator: " ").map { SpokenWord(String($0)) }
  }

  /// Words as they were heard, 20 frames each; a dot is a pause of half a second.
  private func sounds(_ text: String) -> [DecodedWord] {
    var place = 0
    return text.split(separator: " ").compactMap { key in
      place += key == "." ? 50 : 20
      guard key != "." else { return nil }
      return DecodedWord(key: String(key), frames: place - 20..<place, score: 0, evidence: 100)
    }
  }
}
