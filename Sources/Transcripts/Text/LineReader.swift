/// Gives the lines of a text one after the other, without keeping them: LF, CRLF and CR end one.
struct LineReader: Sendable {
  private let bytes: [UInt8]
  private var position = 0
  private var number = 0

  /// Starts before the first line.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The next line without its end; nil behind the last. O(n) in its length.
  mutating func next() -> SourceLine? {
    guard position < bytes.count else { return nil }
    var end = position
    while end < bytes.count, bytes[end] != 0x0a, bytes[end] != 0x0d { end += 1 }
    let line = bytes[position..<end]
    let isPair = end + 1 < bytes.count && bytes[end] == 0x0d && bytes[end + 1] == 0x0a
    position = end + (isPair ? 2 : 1)
    number += 1
    return SourceLine(number: number, bytes: line)
  }

  /// The next line that has more than white space; nil where there is none.
  mutating func nextWithText() -> SourceLine? {
    while let line = next() { if !line.isBlank { return line } }
    return nil
  }
}
