import Testing
@testable import Platform

@Suite("The nearest word")
struct NearestWordTests {
  // Published values: Levenshtein 1966, Damerau 1964, and the case "ca" → "abc", which tells the
  // optimal string alignment (3) from the unrestricted distance (2).
  @Test(
    "is measured by the optimal string alignment distance",
    arguments: [
      ("kitten", "sitting", 3), ("saturday", "sunday", 3), ("ca", "abc", 3), ("ab", "ba", 1),
      ("", "abc", 3), ("abc", "", 3), ("", "", 0), ("resume", "resume", 0),
    ])
  func distance(a: String, b: String, expected: Int) {
    #expect(editDistance(a, b) == expected)
    #expect(editDistance(b, a) == expected)
  }

  @Test("has to be near")
  func limit() {
    #expect(nearestWord(to: "stagse", in: ["show", "stages", "status"]) == "stages")
    #expect(nearestWord(to: "x", in: ["y", "z"]) == nil)
    #expect(nearestWord(to: "completely", in: ["run"]) == nil)
    #expect(nearestWord(to: "", in: ["a"]) == nil)
  }

  @Test("may be short for another, or longer than it")
  func prefix() {
    #expect(nearestWord(to: "output", in: ["outbox", "out", "json"]) == "out")
    #expect(nearestWord(to: "vers", in: ["help", "version"]) == "version")
    #expect(nearestWord(to: "check-pipe", in: ["check", "check-pipeline"]) == "check-pipeline")
    #expect(nearestWord(to: "no", in: ["none"]) == nil)
  }
}
