/// Where and why a text is not the JSON it should be.
public struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
  /// How many bytes stand before it.
  public let offset: Int
  /// The line, from 1.
  public let line: Int
  /// The byte in the line, from 1.
  public let column: Int
  /// What stands there.
  public let found: String
  /// What would be right.
  public let expected: String

  /// A text that is something else from its beginning on.
  public init(found: String, expected: String) {
    (offset, line, column) = (0, 1, 1)
    self.found = found
    self.expected = expected
  }

  /// Describes what is wrong before the byte at `position`. O(n).
  init(at position: Int, in bytes: [UInt8], expected: String) {
    offset = position
    let before = bytes[..<position]
    let lineStart = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    line = before.count { $0 == 0x0a } + 1
    column = position - lineStart + 1
    found = position < bytes.count ? Self.shown(bytes[position]) : "the end of the file"
    self.expected = expected
  }

  /// For messages: where, what stands there, and what would be right.
  public var description: String {
    "line \(line), column \(column): found \(found), expected \(expected)"
  }

  /// A byte as it can be shown: nothing that steers a terminal.
  private static func shown(_ byte: UInt8) -> String {
    if (0x20..<0x7f).contains(byte) { return "\"\(Character(Unicode.Scalar(byte)))\"" }
    let digits = String(byte, radix: 16, uppercase: true)
    return "the byte \(digits.count < 2 ? "0" : "")\(digits)"
  }
}
