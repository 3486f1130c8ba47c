@testable import PipelineModel
import Testing

@Suite("The lines of a file")
struct SourceLinesTests {
  @Test(
    "end as libyaml ends them",
    arguments: [
      ("", [""]), ("a", ["a"]), ("a\n", ["a"]), ("a\n\n", ["a", ""]),
      ("a\r\nb\rc\nd", ["a", "b", "c", "d"]), ("a\n\rb", ["a", "", "b"]),
      ("\u{FEFF}a\u{2028}b\u{85}c", ["a", "b", "c"]),
    ])
  func cut(text: String, expected: [String]) {
    let lines = SourceLines(text).lines.map { String(String.UnicodeScalarView($0)) }
    #expect(lines == expected)
  }

  @Test("have a nearest place for every place")
  func nearest() {
    let lines = SourceLines("ab\ncde\n")
    func nearest(_ line: Int, _ column: Int) -> Place {
      lines.nearest(to: Place(line: line, column: column))
    }
    #expect(nearest(1, 2) == Place(line: 1, column: 2))
    #expect(nearest(1, 3) == Place(line: 1, column: 3))
    #expect(nearest(1, 9) == Place(line: 1, column: 3))
    #expect(nearest(3, 1) == Place(line: 2, column: 4))
    #expect(nearest(0, 0) == Place(line: 1, column: 1))
  }

  @Test("know the place of a byte")
  func bytes() {
    let bytes = Array("aé\n𝄞x".utf8)
    let places = (0..<bytes.count).map { SourceLines.location(ofByte: $0, in: bytes) }
    #expect(places.map(\.line) == [1, 1, 1, 1, 2, 2, 2, 2, 2])
    #expect(places.map(\.column) == [1, 2, 2, 3, 1, 1, 1, 1, 2])
  }
}
