import Platform

/// A line of a text, with its number.
struct SourceLine: Sendable {
  let source: SourceText
  /// Its number, from 1.
  let number: Int
  /// Its UTF-8 content without the line end.
  let bytes: ArraySlice<UInt8>

  /// O(n).
  var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether it is empty or white space.
  var isBlank: Bool { bytes.allSatisfy(\.isSpace) }

  /// Its tab-separated columns. O(n).
  var fields: [ArraySlice<UInt8>] {
    bytes.split(separator: 0x09, omittingEmptySubsequences: false)
  }

  /// The place of one of its bytes in the file.
  func place(of position: Int) -> TextPlace {
    TextPlace(line: number, column: position - bytes.startIndex + 1)
  }

  /// An error at one of its bytes: what is there, and what was expected.
  func error(at position: Int, expected: String) -> SpoolError {
    let rest = bytes[min(position, bytes.endIndex)...]
    let found = rest.isEmpty ? "the end of the line" : "\"\(PrintableText.shown(rest))\""
    return source.error("found \(found), expected \(expected)", at: place(of: position))
  }

  /// The number of a column, which spaces may surround; nil if the column is blank.
  func number(in field: ArraySlice<UInt8>, unit: String) throws(SpoolError) -> Double? {
    var scanner = ByteScanner(field)
    scanner.skipSpace()
    if scanner.isAtEnd { return nil }
    guard let number = scanner.decimal() else {
      throw error(at: field.startIndex, expected: "\(unit) of at least 0")
    }
    scanner.skipSpace()
    guard scanner.isAtEnd else { throw error(at: scanner.position, expected: "a tab") }
    return number
  }

  /// An error at its start.
  func error(expected: String) -> SpoolError {
    error(at: bytes.startIndex, expected: expected)
  }
}

/// A place in a text file.
struct TextPlace: Hashable, Sendable, CustomStringConvertible {
  /// The line, from 1.
  let line: Int
  /// The byte in the line, from 1.
  let column: Int

  /// For messages.
  var description: String { "line \(line), column \(column)" }
}

extension TextPlace {
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
}

/// Untrusted text for messages: short, and without terminal control sequences.
enum PrintableText {
  /// The start of some bytes, in whole characters. O(1).
  static func shown(_ bytes: ArraySlice<UInt8>, limit: Int = 40) -> String {
    // Cut between characters, which may have many scalars.
    let text = String(decoding: bytes.prefix(Self.longest(limit)), as: UTF8.self)
    let isWhole = bytes.count <= Self.longest(limit)
    var result = String.UnicodeScalarView()
    var end = text.startIndex
    for index in text.indices.prefix(limit) {
      let next = text.index(after: index)
      // The last character may be incomplete.
      guard next < text.endIndex || isWhole else { break }
      end = next
    }
    for scalar in text[..<end].unicodeScalars {
      result.append(isHarmless(scalar) ? scalar : "\u{fffd}")
    }
    return String(result) + (isWhole && end == text.endIndex ? "" : "…")
  }

  /// The bytes examined: a character may have dozens.
  private static func longest(_ limit: Int) -> Int { 32 * limit }

  /// The start of a text. O(n).
  static func shown(_ text: String, limit: Int = 40) -> String {
    shown(Array(text.utf8)[...], limit: limit)
  }

  private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    // Joiners of letters and emoji are harmless.
    if scalar == "\u{200c}" || scalar == "\u{200d}" { return true }
    return switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: false
    default: true
    }
  }
}
