@testable import PipelineModel
import Testing

@Suite("A problem shown in its file")
struct SourceExcerptTests {
  @Test("stands over its line, with a marker under the culprit and what to do below")
  func layout() {
    let text = "a: 1\n  - gate: { treshold: -45 dB }\n"
    let problem = Problem(
      at: Place(line: 2, column: 13), "\"treshold\" is not a parameter of gate",
      allowed: "threshold, attack", suggestion: "threshold")
    #expect(
      SourceExcerpt(text, path: "pipelines/x.yaml").render([problem]) == """
        pipelines/x.yaml:2:13: error: "treshold" is not a parameter of gate
           2 |   - gate: { treshold: -45 dB }
             |             ^~~~~~~~
             allowed: threshold, attack
             did you mean "threshold"?

        """)
  }

  @Test("shows no line where the text is not to be seen")
  func hidden() {
    let problem = Problem(at: Place(line: 1, column: 9), "wrong", allowed: "right")
    #expect(
      SourceExcerpt(nil, path: "x").render([problem]) == """
        x:1:9: error: wrong
             allowed: right

        """)
  }

  @Test("follows the order of the file; what has no place comes last")
  func order() {
    let excerpt = SourceExcerpt("a\nb\n", path: "x")
    let problems = [
      Problem(at: nil, "third"), Problem(at: Place(line: 2, column: 1), "second"),
      Problem(at: Place(line: 1, column: 1), "first"),
    ]
    #expect(
      excerpt.render(problems) == """
        x:1:1: error: first
           1 | a
             | ^

        x:2:1: error: second
           2 | b
             | ^

        x: error: third

        """)
    #expect(excerpt.render([]) == "")
  }

  @Test(
    "has its marker where a terminal shows the culprit",
    arguments: [
      ("ä: ü", 4, "ä: ü", "   ^"),
      ("\ta: b", 2, " a: b", " ^"),
      ("日本: x", 5, "日本: x", "      ^"),
      // A letter with a combining accent is two scalars and one column.
      ("e\u{301}: x", 5, "e\u{301}: x", "   ^"),
      ("a: b", 5, "a: b", "    ^"),
      ("", 1, "", "^"),
      ("key: va-l.ue, x", 6, "key: va-l.ue, x", "     ^~~~~~~"),
      // What would move the cursor or turn the line around is not sent to a terminal.
      ("a\u{1B}[31m\u{202E}b: c", 8, "a\u{FFFD}[31m\u{FFFD}b: c", "       ^"),
    ])
  func marker(line: String, column: Int, shown: String, marker: String) {
    let problem = Problem(at: Place(line: 1, column: column), "m")
    #expect(
      SourceExcerpt(line, path: "x").render([problem])
        == "x:1:\(column): error: m\n   1 | \(shown)\n     | \(marker)\n")
  }

  @Test("cuts long lines around the culprit")
  func longLine() throws {
    let text = String(repeating: "a, ", count: 200) + "HERE" + String(repeating: ", b", count: 200)
    let problem = Problem(at: Place(line: 1, column: 601), "m")
    let lines = SourceExcerpt(text, path: "x").render([problem]).split(separator: "\n")
    #expect(lines.count == 3)
    let shown = Array(lines[1])
    let marker = try #require(lines[2].firstIndex(of: "^"))
    let column = lines[2].distance(from: lines[2].startIndex, to: marker)
    #expect(String(shown[column..<column + 4]) == "HERE")
    #expect(lines[2].hasSuffix("^~~~"))
    #expect(shown.count < 120 && lines[1].hasSuffix("…") && lines[1].contains("| …"))
  }

  @Test("shows nothing of a file that has no such line")
  func noLine() {
    let problem = Problem(at: Place(line: 7, column: 3), "m")
    #expect(SourceExcerpt("a", path: "x").render([problem]) == "x:7:3: error: m\n")
  }

  @Test("quotes nothing that could disturb a terminal, nor pages of it")
  func message() {
    let problem = Problem(at: nil, "\"\u{1B}]0;x\u{7}\n\" " + String(repeating: "z", count: 9000))
    let shown = SourceExcerpt("", path: "x").render([problem])
    #expect(shown.hasPrefix("x: error: \"\u{FFFD}]0;x\u{FFFD}\u{FFFD}\" zzz"))
    #expect(shown.hasSuffix("z…\n") && shown.count < 500)
  }

  @Test("has colours only when asked")
  func colours() {
    let problem = Problem(at: Place(line: 1, column: 1), "m")
    let plain = SourceExcerpt("a", path: "x").render([problem])
    let colored = SourceExcerpt("a", path: "x", isColored: true).render([problem])
    #expect(!plain.contains("\u{1B}") && colored.contains("\u{1B}[1;31m^\u{1B}[0m"))
    #expect(colored.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain)
  }
}
