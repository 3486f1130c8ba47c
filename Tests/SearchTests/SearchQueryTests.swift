import Platform
@testable import Search
import TestSupport
import Testing
import Transcripts

@Suite("A query is read as it is meant") struct SearchQueryTests {
  private func expression(_ arguments: [String], near: Int? = nil) throws -> String {
    let expressions = try SearchQuery(arguments, near: near).expressions
    guard expressions.count > 1 else { return expressions[0] }
    // All that is not close together, in parentheses.
    return String(try #require(expressions[1].split(separator: ") NOT (").first).dropFirst())
  }

  @Test(
    "words, phrases, prefixes and operators",
    arguments: [
      (["fox"], #""fox""#), (["quick", "fox"], #""quick" AND "fox""#),
      (["quick fox"], #""quick fox""#), ([#""quick fox" dog"#], #""quick fox" AND "dog""#),
      (["bro*"], #""bro"*"#), (["quick bro*"], #""quick bro"*"#),
      ([#""quick bro"*"#], #""quick bro"*"#),
      (["fox", "OR", "dog", "cat"], #""fox" OR "dog" AND "cat""#),
      (["fox", "NOT", "dog"], #""fox" NOT "dog""#),
      (["(fox OR dog) cat"], #"( "fox" OR "dog" ) AND "cat""#),
      (["NEAR(fox dog)"], #"NEAR("fox" "dog", 10)"#),
      (["NEAR(fox dog, 1000)"], #"NEAR("fox" "dog", 1000)"#),
      (["NEAR(fox dog cat, 5)"], #"NEAR("fox" "dog" "cat", 5)"#),
      ([#"NEAR ("quick fox" dog, 5) cat"#], #"NEAR("quick fox" "dog", 5) AND "cat""#),
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
    #expect(try expression(["NEAR(fox dog)"], near: 4) == #"NEAR("fox" "dog", 4)"#)
    #expect(throws: SpoolError.self) { try expression(["fox", "OR", "dog"], near: 4) }
  }

  @Test("words and phrases are looked for close together first")
  func close() throws {
    #expect(
      try SearchQuery(["a b", "c"]).expressions == [
        #"NEAR("a b" "c", 12)"#, #"("a b" AND "c") NOT (NEAR("a b" "c", 12))"#,
      ])
    #expect(
      try SearchQuery(["a AND b", "c", "NOT", "d"]).expressions.first
        == #"NEAR("a" "b" "c", 24) NOT "d""#)
    #expect(try SearchQuery(["a", "OR", "b"]).expressions == [#""a" OR "b""#])
    #expect(try SearchQuery(["a"]).expressions == [#""a""#])
  }

  @Test(
    "what means nothing is refused, with a reason and advice",
    arguments: [
      ["AND"], ["fox", "AND"], ["NOT", "fox"], ["("], [")"], ["(fox"], ["fox)"], [], ["  "],
      ["fox NEAR dog"], ["NEAR(a OR b)"], ["NEAR(a)"], ["fox AND NOT dog"],
      ["NEAR(fox dog, 1001)"], ["NEAR(fox dog, 9223372036854775807)"], ["NEAR(fox dog, -1)"],
      ["NEAR(fox dog, 99999999999999999999)"], ["NEAR(fox NEAR(dog cat))"],
      [String(repeating: "NEAR(", count: 10_000) + "fox dog)"],
      [String(repeating: "(", count: 10_000) + "fox"],
    ])
  func refused(arguments: [String]) throws {
    let scratch = try ScratchFolder()
    var index = try SearchIndex(at: scratch.file("search.sqlite"))
    do throws(SpoolError) {
      _ = try index.answer(try SearchQuery(arguments), SearchLimits())
      Issue.record("it was answered")
    } catch {
      #expect(error.cause == .input && error.reason != nil && error.advice != nil)
    }
  }

  @Test(
    "hostile text is only text", arguments: ["a\"b", "a\0b", "'; DROP TABLE said; --", "a*b"])
  func hostile(text: String) throws {
    let rest = try expression([text]).replacing("AND", with: "").filter { !$0.isLetter }
    #expect(rest.allSatisfy { "\"* ()".contains($0) }, "\(rest)")
  }

  @Test("a query of signs alone has no words")
  func wordless() throws {
    #expect(throws: SpoolError.self) { try expression(["!?"]) }
    #expect(throws: SpoolError.self) { try expression(["*"]) }
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
