@testable import PipelineModel
import Testing

@Suite("A text that is not YAML")
struct YAMLSyntaxErrorTests {
  @Test(
    "is reported once, in libyaml's words, with its place and a hint",
    arguments: [
      (
        "a:\n\t- b\n",
        "2:1 found character that cannot start any token while scanning for the next token [spaces for indentation, no tabs]"
      ),
      (
        "a: @b\n",
        "1:4 found character that cannot start any token while scanning for the next token [quotes around a value that begins with @]"
      ),
      (
        "a: > 20 dB\n",
        "1:6 did not find expected comment or line break while scanning a block scalar [quotes around a value that begins with > or |]"
      ),
      (
        "a: { b: > 20 dB }\n",
        "1:9 found character that cannot start any token while scanning for the next token [quotes around a value that begins with >]"
      ),
      (
        "a: b: c\n",
        "1:5 mapping values are not allowed in this context [a key at the start of a line, and quotes around a value with \": \" in it]"
      ),
      (
        "a: 1\n b: 2\n",
        "2:3 mapping values are not allowed in this context [a key at the start of a line, and quotes around a value with \": \" in it]"
      ),
      (
        "a:\n  - b\n - c\n",
        "3:2 did not find expected key while parsing a block mapping that begins at 1:1 [lines that belong together begin in the same column]"
      ),
      (
        "a: [1, 2\nb: 3\n",
        "2:2 did not find expected ',' or ']' while parsing a flow sequence that begins at 1:4 [a comma, or ] at the end of the list]"
      ),
      (
        "a: { b: 1\n",
        "1:10 did not find expected ',' or '}' while parsing a flow mapping that begins at 1:4 [a comma, or } at the end of the mapping]"
      ),
      (
        "a: \"open\n",
        "1:9 found unexpected end of stream while scanning a quoted scalar that begins at 1:4 [a closing quote]"
      ),
      ("%YAML 3.0\n---\na\n", "1:1 found incompatible YAML document"),
    ])
  func syntax(text: String, report: String) {
    let document = YAMLDocument(text)
    #expect(document.root == nil)
    #expect(document.problems.map(\.report) == [report])
  }

  @Test(
    "is reported with the place of its first bad byte",
    arguments: [
      (
        Array("a: ü\nb: ".utf8) + [0xFF, 0x0A], "2:4 this is not text: invalid leading UTF-8 octet"
      ),
      (Array("a: ä".utf8) + [0xC3, 0x28], "1:5 this is not text: invalid trailing UTF-8 octet"),
      (Array("a: b".utf8) + [0xE2, 0x82], "1:5 this is not text: incomplete UTF-8 octet sequence"),
      (Array("a: b\n\u{7}".utf8), "2:1 this is not text: control characters are not allowed"),
      (Array("a: b\n\0".utf8), "2:1 this is not text: control characters are not allowed"),
      ([0xFF, 0xFE, 0x61, 0x00], "1:1 this is not text: invalid leading UTF-8 octet"),
    ] as [([UInt8], String)])
  func bytes(bytes: [UInt8], finding: String) {
    let document = YAMLDocument(bytes)
    #expect(document.root == nil)
    #expect(document.problems.map(\.finding) == [finding])
    #expect(document.problems.first?.allowed == "UTF-8 without control characters")
  }
}
