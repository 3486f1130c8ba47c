@testable import Store
import Testing
import Transcripts

@Suite("A query is read as it is meant") struct SearchQueryTests {
  /// What the full text search is asked, with letters and digits as tokens.
  private func expression(_ arguments: [String], near: Int? = nil) throws -> String? {
    try SearchExpression(SearchQuery(arguments, near: near)) { text in
      text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }?.text
  }

  @Test(
    "words, phrases, prefixes and operators",
    arguments: [
      (["fox"], #""fox""#), (["quick", "fox"], #""quick" AND "fox""#),
      (["quick fox"], #""quick fox""#), ([#""quick fox" dog"#], #""quick fox" AND "dog""#),
      (["bro*"], #""bro"*"#), (["quick bro*"], #""quick bro"*"#),
      ([#""quick bro"*"#], #""quick bro"*"#),
      (["fox", "OR", "dog", "cat"], #"("fox" OR ("dog" AND "cat"))"#),
      (["fox AND NOT dog"], #"("fox") NOT "dog""#), (["fox", "NOT", "dog"], #"("fox") NOT "dog""#),
      (["(fox OR dog) cat"], #"("fox" OR "dog") AND "cat""#),
      (["fox NEAR dog"], #"NEAR("fox" "dog", 10)"#),
      (["fox NEAR/3 dog NEAR/5 cat"], #"NEAR("fox" "dog" "cat", 5)"#),
      (["and not near"], #""and not near""#), (["don't"], #""don t""#),
      ([#"fox" OR x NEAR("#], #""fox" AND "or x near""#),
      (["20 %"], #""20 percent""#), (["C++"], #""c plus plus""#),
      (["23:45"], #"("23 45" OR "2345" OR "1145")"#),
    ] as [([String], String)])
  func reading(arguments: [String], text: String) throws {
    let found = try expression(arguments)
    #expect(found == text)
  }

  @Test("--near brings all words together, and goes with nothing else")
  func near() throws {
    #expect(
      try expression(["quick", "fox", "the dog"], near: 4) == #"NEAR("quick" "fox" "the dog", 4)"#)
    #expect(throws: SearchQueryError.self) { try expression(["fox", "OR", "dog"], near: 4) }
  }

  @Test(
    "what means nothing is refused",
    arguments: [
      ["AND"], ["fox", "AND"], ["NOT", "fox"], ["("], [")"], ["(fox"], ["fox)"], [], ["  "],
      ["fox NEAR (a OR b)"], [String(repeating: "(", count: 10_000)],
      Array(repeating: "w", count: 65),
    ])
  func refused(arguments: [String]) {
    #expect(throws: SearchQueryError.self) { try SearchQuery(arguments) }
  }

  @Test(
    "hostile text is only text", arguments: ["a\"b", "a\0b", "'; DROP TABLE said; --", "a*b", "*"])
  func hostile(text: String) throws {
    let words = try #require(try? SearchQuery([text]))
    let found = SearchExpression(words) { text in
      text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }
    let rest = (found?.text ?? "").filter { !$0.isLetter }
    #expect(rest.allSatisfy { "\"* ()".contains($0) }, "\(rest)")
  }

  @Test("a query of signs alone has no words")
  func wordless() throws {
    #expect(try expression(["!?"]) == nil)
    #expect(try expression(["!?", "fox"]) == #""fox""#)
  }

  @Test(
    "a number is the same token however it is written",
    arguments: [
      ("twenty-five", "25"), ("two thousand five", "2005"), ("1,042", "1042"),
      ("One thousand and forty two", "1042"), ("nineteen hundred people", "1900 people"),
      ("nineteen oh five", "1905"), ("twenty, five", "20 5"), ("23:45", "2345"), ("101", "101"),
      ("room 7", "room 7"), ("20 30", "20 30"), ("3.14", "3point14"), ("22nd", "22th"),
      ("the 1990s", "the 1990s"), ("five million", "5 million"), ("5 million", "5 million"),
      ("20 %", "20 percent"), ("C++", "c plus plus"), ("one and only", "1 and only"),
      ("twenty five twenty twenty four", "25 2024"), ("20,000", "20000"),
    ])
  func numbers(written: String, said: String) {
    let words = SaidText.words(of: written.split(separator: " ").map(String.init), isEnglish: true)
    #expect(words.filter { !$0.isEmpty }.joined(separator: " ") == said)
  }

  @Test("every way to say a number up to 9999 is that number", arguments: [0..<100, 100..<9999])
  func allNumbers(range: Range<Int>) {
    for number in range.filter({ $0 < 120 || $0 % 53 == 0 }) {
      let ways = [
        EnglishNumbers.cardinal(number), EnglishNumbers.cardinalWithAnd(number),
        EnglishSpelling().said(["\(number)"])[0].split(separator: " ").map(String.init),
      ]
      for way in ways.compactMap(\.self) {
        let said = SaidText.words(of: way, isEnglish: true).filter { !$0.isEmpty }
        #expect(said == ["\(number)"], "\(way)")
      }
    }
  }
}
