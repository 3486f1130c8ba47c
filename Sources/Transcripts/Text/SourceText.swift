import Platform

/// An untrusted file's text, as UTF-8 without a byte order mark.
package struct SourceText: Sendable {
  /// The greatest file size in bytes: some hundred hours.
  private static let byteLimit = 64 << 20
  /// The greatest number of pieces separated by white space or commas, which determine the memory use.
  package static let pieceLimit = 8_000_000

  /// The text in UTF-8.
  let bytes: [UInt8]
  /// What is done with it, for errors: `read the transcript as srt`.
  private let action: String

  /// Decodes a file: UTF-8, UTF-16 with a byte order mark, or else Windows-1252, a superset of
  /// Latin-1. O(n).
  init(
    _ file: [UInt8], pieceLimit: Int = Self.pieceLimit, doing action: String
  ) throws(SpoolError) {
    self.action = action
    bytes = file.count <= Self.byteLimit ? TextEncoding.utf8(of: file) : []
    guard file.count <= Self.byteLimit else {
      throw error(
        "it has \(file.count) bytes, and at most \(Self.byteLimit) are read",
        advice: "split it, or read it with a higher limit")
    }
    try check(pieceLimit)
  }

  /// An error of what is done with the text, at a place if it has one.
  func error(_ reason: String, at place: TextPlace? = nil, advice: String? = nil) -> SpoolError {
    SpoolError(
      "cannot \(action)" + (place.map { " at \($0)" } ?? ""), reason: reason, advice: advice)
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }

  var lines: LineReader { LineReader(self) }

  /// The first byte that is no white space.
  var firstByte: UInt8? { bytes.first { !$0.isSpace } }

  // Memory grows with the number of words rather than bytes, so both are limited.
  private func check(_ pieceLimit: Int) throws(SpoolError) {
    var pieces = 0
    for (offset, byte) in bytes.enumerated() {
      switch byte {
      case 0x09, 0x0a, 0x0d, 0x20, UInt8(ascii: ","): pieces += 1
      case 0:
        throw error("found the byte 00, which no text has", at: TextPlace(of: offset, in: bytes))
      default: break
      }
    }
    guard pieces <= pieceLimit else {
      throw error(
        "white space and commas part it into \(pieces) pieces, and at most \(pieceLimit) "
          + "are read", advice: "split it, or read it with a higher limit")
    }
  }

  /// Whether an ASCII text occurs. O(n) for a text whose first letter is rare.
  func contains(_ text: String) -> Bool {
    let wanted = Array(text.utf8)
    guard let first = wanted.first, bytes.count >= wanted.count else { return false }
    for index in 0...bytes.count - wanted.count where bytes[index] == first {
      if bytes[index...].starts(with: wanted) { return true }
    }
    return false
  }
}

/// Iterates over the lines of a text without storing them; LF, CRLF and CR end a line.
struct LineReader: Sendable {
  private let source: SourceText
  private var position = 0
  private var number = 0

  init(_ source: SourceText) { self.source = source }

  /// The next line without its end; nil after the last. O(length).
  mutating func next() -> SourceLine? {
    let bytes = source.bytes
    guard position < bytes.count else { return nil }
    var end = position
    while end < bytes.count, bytes[end] != 0x0a, bytes[end] != 0x0d { end += 1 }
    let line = bytes[position..<end]
    let isPair = end + 1 < bytes.count && bytes[end] == 0x0d && bytes[end + 1] == 0x0a
    position = end + (isPair ? 2 : 1)
    number += 1
    return SourceLine(source: source, number: number, bytes: line)
  }

  /// The next line that is not blank; nil if there is none.
  mutating func nextWithText() -> SourceLine? {
    while let line = next() { if !line.isBlank { return line } }
    return nil
  }
}
