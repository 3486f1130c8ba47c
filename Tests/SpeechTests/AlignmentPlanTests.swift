@testable import Speech
import Testing

@Suite("Pieces in which words are looked for") struct AlignmentPlanTests {
  private static func words(_ count: Int) -> [SpokenWord] {
    Array(repeating: SpokenWord(variants: [["word"]]), count: count)
  }

  @Test("where no word was heard, they are looked for only where they can be, and not for hours")
  func nothingHeard() {
    func pieces(_ count: Int, in frames: Int) -> [AlignmentPlan.Piece] {
      AlignmentPlan(words: Self.words(count), trusted: [], whole: 0..<frames).pieces
    }
    #expect(pieces(20, in: 2000) == [AlignmentPlan.Piece(place: 0..<2000, words: 0..<20)])
    #expect(pieces(2000, in: 2000).isEmpty, "they take longer than that")
    #expect(pieces(20, in: 720_000).isEmpty, "two hours")
    #expect(pieces(0, in: 2000).isEmpty)
  }

  @Test(
    "an hour without a word between two that were heard is left out, and what is around it is not")
  func longDoubt() {
    func trusted(_ word: Int, at place: Int) -> AnchorWord {
      AnchorWord(word: word, heard: word..<word + 1, place: place..<place + 30)
    }
    let plan = AlignmentPlan(
      words: Self.words(7),
      trusted: [0, 1, 2].map { trusted($0, at: 100 + 40 * $0) }
        + [4, 5, 6].map { trusted($0, at: 400_000 + 40 * $0) }, whole: 0..<401_000)
    #expect(plan.pieces.map(\.words) == [0..<3, 4..<7])
    #expect(plan.pieces.allSatisfy { $0.place.count < 1000 })
  }
}
