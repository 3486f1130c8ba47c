@testable import PipelineModel
import Testing

@Suite("A variable")
struct VariableReaderTests {
  private func parse(_ line: String) -> ParsedPipeline {
    ParsedPipeline("pipeline: p\nvars:\n  \(line)\nstages: [decode]\n")
  }

  @Test(
    "is a value, or a mapping with its value and more",
    arguments: [
      ("x: -16 LUFS", "-16 LUFS"),
      ("x: [wav, m4a]", "[wav, m4a]"),
      ("x: { ratio: 3 }", "{ratio: 3}"),
      ("x: { value: 3, summary: s, overridable: false }", "3"),
      ("x: { value: { a: 1 } }", "{a: 1}"),
      ("x: {}", "{}"),
    ])
  func value(line: String, outline: String) {
    let parsed = parse(line)
    #expect(parsed.problems == [])
    #expect(parsed.definition?.variables.map(\.value.outline) == [outline])
  }

  @Test("that no step uses is known, whether in a parameter, in a list or as a condition")
  func unused() {
    let parsed = ParsedPipeline(
      """
      pipeline: p
      vars: { a: 3, b: 1 s, c: true, d: false, e: 1, f: x, g: 2 }
      stages:
        - decode
        - trim: { threshold: $b }
          when: $c
        - fade: { in: $a }
          when: not $d
        - eq: { bands: [{ type: peak, frequency: $e, q: "$f" }] }
      """)
    #expect(parsed.definition?.unusedVariables == ["f", "g"])
  }

  @Test("that holds another one is reported, and a text with a dollar is not")
  func nested() {
    let reports = ParsedPipeline(
      "pipeline: p\nvars:\n  a: 3\n  b: $a\n  c: $5\n  d: \"$a\"\nstages: [decode]\n"
    ).problems.map(\.report)
    #expect(
      reports == [
        "4:6 the variable \"b\" holds another one, $a "
          + "[a value of its own: a variable is not replaced in another one]"
      ])
  }

  @Test(
    "with a mistake is reported",
    arguments: [
      (
        "x:",
        "3:5 the variable \"x\" has no value [text, a number with its unit, a list or a mapping]"
      ),
      (
        "x: { summary: s }",
        "3:3 the variable \"x\" has no value [text, a number with its unit, a list or a mapping]"
      ),
      (
        "x: { value: 1, overidable: true }",
        "3:18 \"overidable\" is not a part of a variable [value, summary, overridable] → overridable"
      ),
      (
        "x: { default: 1, overridable: true }",
        "3:8 \"default\" is not a part of a variable [value, summary, overridable] → value"
      ),
      ("x: { value: 1, overridable: no }", "3:31 overridable is \"no\" [true, false] → false"),
      ("x: { value: 1, summary: [] }", "3:27 summary is a list [text]"),
      (
        "x y: 1",
        "3:3 \"x y\" cannot be a variable's name [letters a–z, digits, - and _, beginning with a letter or digit]"
      ),
      (
        "{ x: 1, x: 2 }",
        "3:11 \"x\" stands twice in this mapping [each key once; the first is in line 3]"
      ),
    ])
  func mistakes(line: String, report: String) {
    #expect(parse(line).problems.map(\.report) == [report])
  }
}
