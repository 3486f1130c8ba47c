import Foundation
@testable import PipelineModel
import TestSupport
import Testing

/// PyYAML's scanner in plain Python: another implementation than libyaml.
private let python = Program(named: "python3").flatMap { program in
  (try? program.run(["-c", "import yaml"]))?.exitCode == 0 ? program : nil
}

@Suite("The YAML reader and PyYAML", .enabled(if: python != nil, "python3 with PyYAML is absent"))
struct YAMLReferenceTests {
  private static let script = """
    import sys, yaml
    def show(node):
        mark = node.start_mark
        place = f"{mark.line + 1}:{mark.column + 1}"
        if isinstance(node, yaml.ScalarNode): return f"{place}={node.value!a}"
        if isinstance(node, yaml.SequenceNode):
            return place + "[" + ",".join(show(n) for n in node.value) + "]"
        return place + "{" + ",".join(f"{show(k)}>{show(v)}" for k, v in node.value) + "}"
    print(show(yaml.compose(open(sys.argv[1], encoding="utf-8"), Loader=yaml.SafeLoader)), end="")
    """

  @Test(
    "see the same values in the same places",
    arguments: [
      "stages:\n  - decode: { from: $note }\n  - eq:\n      bands:\n        - { type: peak, q: 0.9 }\n",
      "- a\n-   b : c\n    d:   [ x , 'y z' , \"q\\tr\" ]\n- - deep\n  - er\n",
      "text: |\n  one\n  two\nfolded: >\n  three\n  four\n\nlast: \"a\n  b\"\n",
      "# comment\n\nkäse: brötchen  # trailing\nüber: { ä: ö, 日本: [語] }\n",
      "a: &anchor { b: 1 }\nc: *anchor\n",
      "inputs:\n  note: sound\n  transcript: transcript?\nurl: http://x.org:80/a#b\n",
      "plain: a value\n  over two lines\nq: 'it''s'\n? complex\n: value\n",
    ])
  func agree(text: String) throws {
    let scratch = try ScratchFolder()
    let path = try scratch.write(text, to: "document.yaml")
    let result = try #require(python).run(["-c", Self.script, path])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    let document = YAMLDocument(text)
    #expect(document.problems.isEmpty)
    #expect(try Self.show(#require(document.root)) == result.text)
  }

  private static func show(_ node: DocumentNode) -> String {
    let place = show(node.location)
    switch node.content {
    case .scalar(let text, _), .typed(let text): return "\(place)=\(literal(text))"
    case .sequence(let nodes): return place + "[" + nodes.map(show).joined(separator: ",") + "]"
    case .mapping(let entries):
      let shown = entries.map { "\(show($0.location))=\(literal($0.key))>\(show($0.value))" }
      return place + "{" + shown.joined(separator: ",") + "}"
    }
  }

  private static func show(_ location: Place) -> String {
    "\(location.line):\(location.column)"
  }

  /// A text as Python's `ascii()` writes it.
  private static func literal(_ text: String) -> String {
    let quote = text.contains("'") && !text.contains("\"") ? "\"" : "'"
    let body = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\n": "\\n"
      case "\t": "\\t"
      case _ where scalar.value > 0xFF: "\\u" + hex(scalar, 4)
      case _ where scalar.value > 0x7E: "\\x" + hex(scalar, 2)
      default: String(scalar)
      }
    }
    return quote + body.joined() + quote
  }

  private static func hex(_ scalar: Unicode.Scalar, _ digits: Int) -> String {
    let text = String(scalar.value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
