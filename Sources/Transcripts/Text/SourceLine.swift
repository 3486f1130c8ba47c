/// A line of a text, and which.
struct SourceLine: Sendable {
  /// Its number, from 1.
  let number: Int
  /// What stands in it, in UTF-8, without its end.
  let bytes: ArraySlice<UInt8>

  /// What stands in it. O(n).
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether it has nothing but white space.
  var isBlank: Bool { bytes.allSatisfy { $0 == 0x20 || (0x09...0x0d).contains($0) } }

  /// What it consists of between tabs. O(n).
  var fields: [ArraySlice<UInt8>] {
    bytes.split(separator: 0x09, omittingEmptySubsequences: false)
  }

  /// Where in the file a byte of it stands.
  func place(of position: Int) -> TextPlace {
    TextPlace(line: number, column: position - bytes.startIndex + 1)
  }

  /// An error at one of its bytes: what stands there, and what would be right.
  func error(at position: Int, expected: String) -> TranscriptError {
    let rest = bytes[min(position, bytes.endIndex)...]
    let found = rest.isEmpty ? "the end of the line" : "\"\(PrintableText.shown(rest))\""
    return TranscriptError(
      .reading, at: place(of: position), "found \(found), expected \(expected)")
  }

  /// An error at its beginning.
  func error(expected: String) -> TranscriptError {
    error(at: bytes.startIndex, expected: expected)
  }
}
