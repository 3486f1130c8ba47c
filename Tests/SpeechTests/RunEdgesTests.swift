@testable import Speech
import Testing

@Suite("Words beside speech that the text lacks") struct RowEdgesTests {
  private static let text = "the old house stood both it and the section as whole is meant".split(
    separator: " ")

  /// The words that are contested after these were heard, each for 20 frames and, where there is a
  /// dot, five seconds later.
  private func contested(
    _ heard: String, trusting rows: [(word: Int, heard: Range<Int>)], echoes: Set<Int> = []
  ) -> [Int] {
    var place = 0
    var sounds: [DecodedWord] = []
    for key in heard.split(separator: " ") {
      place += key == "." ? 500 : 20
      guard key != "." else { continue }
      sounds.append(
        DecodedWord(
          key: String(key), frames: place..<place + 20, score: key.count > 3 ? 0 : -1,
          evidence: 200))
    }
    let trusted = rows.map { row in
      row.heard.map { number in
        AnchorWord(
          word: row.word + number - row.heard.lowerBound, heard: number..<number + 1,
          place: sounds[number].frames)
      }[...]
    }
    return RunEdges(words: Self.text.map { SpokenWord(String($0)) }, heard: sounds, echoes: echoes)
      .contest(trusted, in: 0..<place + 20)
      .filter(\.isContested).map(\.word)
  }

  @Test("a short word at the edge is contested where the words behind it were not heard")
  func weak() {
    let heard = "the old house stood both it and the . whole is meant"
    #expect(contested(heard, trusting: [(0, 0..<8), (10, 8..<11)]) == [7])
    #expect(
      contested(
        "the old house stood both it . whole is meant", trusting: [(0, 0..<6), (10, 6..<9)])
        == [5], "a long word ends the doubt")
    #expect(
      contested("the old house stood both whole is meant", trusting: [(0, 0..<5), (10, 5..<8)])
        .isEmpty, "there is no time for anything else")
  }

  @Test("words that were heard twice are contested, and what is left of a row")
  func echo() {
    let heard = "the old house stood both it and . no and the section as whole"
    let rows = [(0, 0..<6), (6, 8..<12)]
    #expect(contested(heard, trusting: rows, echoes: [6]) == [6])
    #expect(contested(heard, trusting: rows, echoes: [6, 7]) == [6, 7, 8, 9])
    #expect(contested(heard, trusting: rows, echoes: []).isEmpty)
  }
}
