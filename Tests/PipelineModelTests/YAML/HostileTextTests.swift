@testable import PipelineModel
import Testing

@Suite("A hostile text")
struct HostileTextTests {
  /// Texts near the limit of size, each aimed at something that could take quadratic time.
  private static let texts: [(name: String, text: String)] = [
    ("brackets", String(repeating: "[", count: 1 << 20)),
    ("braces", String(repeating: "{a: ", count: 1 << 18)),
    ("questions", String(repeating: "? ", count: 1 << 19)),
    ("dashes", String(repeating: "- ", count: 1 << 19)),
    ("one word", String(repeating: "x", count: 1 << 20)),
    ("one key", "\"" + String(repeating: "x", count: 1 << 19) + "\": 1"),
    ("quotes", String(repeating: "\"", count: 1 << 20)),
    ("line breaks", String(repeating: "\n", count: 1 << 20)),
    ("same keys", String(repeating: "a: 1\n", count: 9000)),
    (
      "unknown aliases",
      (0..<9000).map { "- &a\($0) x\n" }.joined() + (0..<9000).map { "- *b\($0)\n" }.joined()
    ),
    ("unknown keys", (0..<9000).map { "key\($0): 1\n" }.joined()),
  ]

  @Test("near the limit of size is answered within seconds", arguments: texts.map(\.name))
  func time(name: String) throws {
    let text = try #require(Self.texts.first { $0.name == name }).text
    let clock = ContinuousClock()
    let time = clock.measure {
      let parsed = ParsedPipeline(text)
      #expect(parsed.definition == nil)
      #expect(!parsed.problems.isEmpty)
    }
    #expect(time < .seconds(8), "a debug build takes about two on an idle machine")
  }
}
