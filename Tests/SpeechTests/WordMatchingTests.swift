@testable import Speech
import TestSupport
import Testing

@Suite("Which heard words are which words of a text") struct WordMatchingTests {
  @Test("what is heard as it is written is matched word by word")
  func same() {
    let text = words("from fairest creatures we desire increase")
    #expect(WordMatching(text: text, heard: text).heard == Array(0..<text.count))
  }

  @Test("words that were not heard, and words that are not in the text, are left over")
  func differences() {
    let matching = WordMatching(
      text: words("one two three four five six"), heard: words("one two uh four five seven six"))
    #expect(matching.heard == [0, 1, nil, 3, 4, 6])
  }

  @Test("a refrain is matched in order, each time where it is sung")
  func refrain() {
    let text = words("a b c refrain sings on d e f refrain sings on g h i")
    let heard = words("a b c refrain sings on d f refrain sings on g h")
    let matching = WordMatching(text: text, heard: heard)
    #expect(matching.heard == [0, 1, 2, 3, 4, 5, 6, nil, 7, 8, 9, 10, 11, 12, nil])
  }

  @Test("long texts with blocks left out on either side are matched in order", arguments: 1...8)
  func longTexts(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let whole = (0..<6000).map { _ in "w\(random.next() % 700)" }
    let text = Array(whole[..<2000] + whole[2400...])
    let heard = Array(whole[..<900] + whole[1000..<4000] + whole[4200...])
    let matching = WordMatching(text: text, heard: heard)
    let pairs = matching.heard.enumerated().compactMap { word, sound in sound.map { (word, $0) } }
    #expect(zip(pairs, pairs.dropFirst()).allSatisfy { $0.1 < $1.1 })
    #expect(pairs.allSatisfy { text[$0.0] == heard[$0.1] })
    // All that both have is 5300 words; words of the holes may match by chance beside them.
    #expect(matching.count >= 5290)
  }

  @Test("nothing is matched with nothing")
  func nothing() {
    #expect(WordMatching(text: [], heard: words("a b")).heard.isEmpty)
    #expect(WordMatching(text: words("a b"), heard: []).heard == [nil, nil])
  }

  private func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }
}
