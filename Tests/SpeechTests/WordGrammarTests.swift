@testable import Speech
import Testing

@Suite("Words in their order as a graph") struct WordGrammarTests {
  @Test("each way leads from a word's beginning to its end")
  func arcs() {
    let grammar = WordGrammar(of: [
      SpokenWord("in"), SpokenWord(variants: [["twenty", "ten"], ["two", "thousand", "ten"]]),
      SpokenWord(variants: []), SpokenWord("so"),
    ])
    #expect(grammar.arcs.map(\.key) == ["in", "twenty", "ten", "two", "thousand", "ten", "so"])
    #expect(Set(grammar.arcs.filter { $0.key == "ten" }.map(\.to)).count == 1)
    #expect(grammar.arcs.last?.to == grammar.lastState)
    #expect(grammar.arcs.allSatisfy { $0.from < grammar.stateCount && $0.to < grammar.stateCount })
  }

  @Test("what was heard belongs to the words whose ways it is")
  func assignment() {
    let words = [
      SpokenWord(variants: [["a"], ["a", "b"]]), SpokenWord(variants: []),
      SpokenWord(variants: [["b", "c"], ["c"]]),
    ]
    #expect(assigned("a b c", words) == [["a"], [], ["b", "c"]])
    #expect(assigned("a c", words) == [["a"], [], ["c"]])
    #expect(assigned("a b b c", words) == [["a", "b"], [], ["b", "c"]])
    #expect(assigned("a b", words) == nil)
  }

  private func assigned(_ text: String, _ words: [SpokenWord]) -> [[String]]? {
    let heard = text.split(separator: " ").enumerated().map { index, key in
      DecodedWord(key: String(key), frames: index * 10..<index * 10 + 10, score: 0)
    }
    return WordGrammar.assign(heard, to: words)?.map { $0.map(\.key) }
  }
}
