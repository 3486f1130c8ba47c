/// A place in a text file.
public struct TextPlace: Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1.
  public let line: Int
  /// The byte in the line, from 1.
  public let column: Int

  /// A place by its line and byte, both from 1.
  public init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  /// The place of the byte at `offset`; lines end with LF, CRLF or CR. O(n).
  init(of offset: Int, in bytes: [UInt8]) {
    var line = 1
    var lineStart = 0
    for index in 0..<min(offset, bytes.count) {
      let isLast = index + 1 < bytes.count && bytes[index] == 0x0d && bytes[index + 1] == 0x0a
      if bytes[index] == 0x0a || bytes[index] == 0x0d && !isLast {
        line += 1
        lineStart = index + 1
      }
    }
    self.init(line: line, column: offset - lineStart + 1)
  }

  /// For messages.
  public var description: String { "line \(line), column \(column)" }
}
