@testable import PipelineModel
import Testing

@Suite("A YAML document")
struct YAMLDocumentTests {
  @Test("becomes a tree in which scalars stay as they were written")
  func tree() {
    let document = YAMLDocument(
      """
      a: [1, "2", no, ~]
      b: { c: -18 dB, d: }
      e: >-
        two
        words
      f: 'it''s'
      """)
    #expect(document.problems.isEmpty)
    #expect(
      document.root?.outline
        == "{a: [1, \"2\", no, ~], b: {c: -18 dB, d: }, e: \"two words\", f: \"it's\"}")
  }

  @Test("knows the place of every key and value, counted from 1 in characters")
  func places() throws {
    let document = YAMLDocument("ä: ü\nlist:\n  - ö: [x, ß, yy]\n")
    guard case .mapping(let entries) = try #require(document.root).content else {
      Issue.record("not a mapping")
      return
    }
    #expect(entries[0].location == Place(line: 1, column: 1))
    #expect(entries[0].value.location == Place(line: 1, column: 4))
    guard case .sequence(let items) = entries[1].value.content,
      case .mapping(let inner) = items[0].content,
      case .sequence(let letters) = inner[0].value.content
    else {
      Issue.record("not a list of a mapping with a list")
      return
    }
    #expect(items[0].location == Place(line: 3, column: 5))
    #expect(letters.map(\.location.column) == [9, 12, 15])
  }

  @Test(
    "reads any kind of line end, with and without a byte order mark",
    arguments: ["\n", "\r\n", "\r"], [false, true])
  func lineEnds(end: String, hasMark: Bool) {
    let text = (hasMark ? "\u{FEFF}" : "") + "a: 1" + end + "b: x: y" + end
    let document = YAMLDocument(text)
    #expect(document.root == nil)
    #expect(
      document.problems.map(\.finding) == ["2:5 mapping values are not allowed in this context"])
    #expect(YAMLDocument((hasMark ? "\u{FEFF}" : "") + "a: 1" + end).root?.outline == "{a: 1}")
  }

  @Test(
    "that says nothing is null", arguments: ["", "\n\n", "# only a comment\n", "---\n", "\u{FEFF}"])
  func empty(text: String) throws {
    let document = YAMLDocument(text)
    #expect(document.problems.isEmpty)
    #expect(try #require(document.root).isNull)
  }

  @Test("repeats an anchored node wherever its alias stands")
  func aliases() {
    let document = YAMLDocument("a: &x { b: 1 }\nc: *x\nd: [*x, *x]\n*x : 1\n")
    #expect(document.root?.outline == "{a: {b: 1}, c: {b: 1}, d: [{b: 1}, {b: 1}]}")
    #expect(document.problems.map(\.report) == ["4:1 a key cannot be a mapping [text]"])
    #expect(YAMLDocument("a: &x k\n*x : 1\n").root?.outline == "{a: k, k: 1}")
    #expect(YAMLDocument("- &x 1\n- &x 2\n- *x\n").root?.outline == "[1, 2, 2]")
  }

  @Test(
    "reports what may not stand in it, and reads on",
    arguments: [
      (
        "a: 1\nb: 2\na: 3\n",
        "3:1 \"a\" stands twice in this mapping [each key once; the first is in line 1]",
        "{a: 1, b: 2}"
      ),
      ("[1, 2]: x\ny: z\n", "1:1 a key cannot be a list [text]", "{y: z}"),
      ("? { a: 1 }\n: x\n", "1:3 a key cannot be a mapping [text]", "{}"),
      ("a: 1\n?\n: 2\n", "2:2 a key is missing before the colon [key: value]", "{a: 1}"),
      (
        "a: !!int 3\n", "1:4 the tag !!int is not supported [the bare value; quotes make it text]",
        "{a: 3}"
      ),
      (
        "a: !secret x\n",
        "1:4 the tag !secret is not supported [the bare value; quotes make it text]", "{a: x}"
      ),
      (
        "a: !x [1]\n", "1:4 the tag !x is not supported [the bare value; quotes make it text]",
        "{a: [1]}"
      ),
      (
        "a: &x { b: 1 }\nc:\n  <<: *x\n  d: 2\n",
        "3:3 merge keys (\"<<\") are not supported [an alias as a whole value, or the keys themselves]",
        "{a: {b: 1}, c: {d: 2}}"
      ),
      (
        "a: &name 1\nb: *nmae\n", "2:4 there is no anchor &nmae above [*name] → *name",
        "{a: 1, b: }"
      ),
      ("a: *x\n", "1:4 there is no anchor &x above", "{a: }"),
      ("a: &x [1, *x]\n", "1:11 *x stands inside &x itself", "{a: [1, ]}"),
      ("a: 1\n---\nb: 2\n", "2:1 a second document begins here [one document in a file]", nil),
    ] as [(String, String, String?)])
  func refusals(text: String, report: String, outline: String?) {
    let document = YAMLDocument(text)
    #expect(document.problems.map(\.report) == [report])
    #expect(document.root?.outline == outline)
  }

  @Test("takes a quoted \"<<\" for an ordinary key")
  func quotedMergeKey() {
    #expect(YAMLDocument("\"<<\": 1").root?.outline == "{<<: 1}")
  }

  @Test("reports everything up to where reading has to stop")
  func everything() {
    let document = YAMLDocument("a: 1\na: 2\nb: !t 3\nc: [\n")
    #expect(
      document.problems.map { $0.location?.line } == [2, 3, 4], "\(document.problems)")
  }

  // The classic: nine levels of ten aliases each would be a billion nodes.
  @Test("refuses aliases that multiply, at once")
  func aliasBomb() {
    var text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...9 {
      let list = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
      text += "a\(level): &a\(level) [\(list)]\n"
    }
    let clock = ContinuousClock()
    var document = YAMLDocument("")
    let time = clock.measure { document = YAMLDocument(text) }
    #expect(document.root == nil)
    #expect(
      document.problems.map(\.report) == [
        "5:10 the document has too many values once its aliases are written out [at most 20000 values, with the keys]"
      ])
    #expect(time < .seconds(1))
  }

  @Test("refuses too many values, and blames aliases only where there are some")
  func tooManyValues() {
    let text = "vars:\n" + (0..<10_001).map { "  v\($0): \($0)\n" }.joined()
    #expect(
      YAMLDocument(text).problems.map(\.report) == [
        "10000:10 the document has too many values [at most 20000 values, with the keys]"
      ])
  }

  @Test("refuses nesting deeper than 64 levels, also through aliases")
  func depth() {
    func nested(_ levels: Int) -> String {
      String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
    }
    #expect(YAMLDocument(nested(64)).problems.isEmpty)
    let tooDeep = "lists and mappings are nested too deeply"
    #expect(YAMLDocument(nested(65)).problems.map(\.finding) == ["1:65 \(tooDeep)"])
    #expect(YAMLDocument(nested(50_000)).problems.map(\.finding) == ["1:65 \(tooDeep)"])
    let chained = "- &a \(nested(40))\n- \(String(repeating: "[", count: 24))*a"
    #expect(YAMLDocument(chained).problems.map(\.finding) == ["2:27 \(tooDeep)"])
  }

  @Test("refuses more bytes than the limit without reading them")
  func size() {
    #expect(YAMLDocument(Array("a: 3456789".utf8), byteLimit: 10).problems.isEmpty)
    #expect(
      YAMLDocument(Array("a: 34567890".utf8), byteLimit: 10).problems.map(\.report)
        == ["1:1 the file is 11 bytes long [at most 10 bytes]"])
  }
}
