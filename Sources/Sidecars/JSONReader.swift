/// Reads JSON that a stranger wrote (RFC 8259): it never recurses deeper than it was told, and
/// says where the text is wrong.
package struct JSONReader {
  /// Where and why a text is no JSON.
  package struct SyntaxError: Error, Hashable {
    /// The line, from 1.
    package let line: Int
    /// The byte in the line, from 1.
    package let column: Int
    /// What stands there.
    package let found: String
    /// What would be right.
    package let expected: String

    /// Describes what is wrong.
    package init(line: Int, column: Int, found: String, expected: String) {
      self.line = line
      self.column = column
      self.found = found
      self.expected = expected
    }
  }

  private let bytes: [UInt8]
  private let depthLimit: Int
  private var position = 0
  /// Names that an object has more than once; the last value counts.
  private(set) var repeatedNames: [String] = []

  private init(_ bytes: [UInt8], depthLimit: Int) {
    self.bytes = bytes
    self.depthLimit = depthLimit
  }

  /// The value of a whole text, and the names that were given twice in one object. A byte order
  /// mark is skipped. O(n).
  package static func value(
    of bytes: [UInt8], depthLimit: Int
  ) throws(SyntaxError) -> (value: JSONValue, repeatedNames: [String]) {
    var reader = JSONReader(bytes, depthLimit: depthLimit)
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { reader.position = 3 }
    let value = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.next == nil else { throw reader.error(expected: "the end of the file") }
    return (value, reader.repeatedNames)
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func value(depth: Int) throws(SyntaxError) -> JSONValue {
    skipSpace()
    switch next {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard depth < depthLimit else {
        throw error(expected: "at most \(depthLimit) lists and objects in one another")
      }
      return next == UInt8(ascii: "{") ? try object(depth: depth) : try list(depth: depth)
    case UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try number()
    default:
      for (word, value) in Self.words where bytes[position...].starts(with: word.utf8) {
        position += word.utf8.count
        return value
      }
      throw error(expected: "a value")
    }
  }

  private static let words: [(String, JSONValue)] = [
    ("true", .boolean(true)), ("false", .boolean(false)), ("null", .null),
  ]

  private mutating func object(depth: Int) throws(SyntaxError) -> JSONValue {
    position += 1
    var values: [String: JSONValue] = [:]
    skipSpace()
    if skip("}") { return .object(values) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw error(expected: "a name in quotes") }
      let name = try text()
      skipSpace()
      guard skip(":") else { throw error(expected: "a colon") }
      if values.updateValue(try value(depth: depth + 1), forKey: name) != nil {
        repeatedNames.append(name)
      }
      skipSpace()
    } while skip(",")
    guard skip("}") else { throw error(expected: "a comma or a closing brace") }
    return .object(values)
  }

  private mutating func list(depth: Int) throws(SyntaxError) -> JSONValue {
    position += 1
    var values: [JSONValue] = []
    skipSpace()
    if skip("]") { return .list(values) }
    repeat {
      values.append(try value(depth: depth + 1))
      skipSpace()
    } while skip(",")
    guard skip("]") else { throw error(expected: "a comma or a closing bracket") }
    return .list(values)
  }

  private mutating func number() throws(SyntaxError) -> JSONValue {
    let start = position
    _ = skip("-")
    if !skip("0"), skipDigits() == 0 { throw error(expected: "a digit") }
    if skip("."), skipDigits() == 0 { throw error(expected: "a digit") }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      if skipDigits() == 0 { throw error(expected: "a digit") }
    }
    return .number(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  /// Text in quotes. Bytes that are no UTF-8, and halves of surrogate pairs, become U+FFFD.
  private mutating func text() throws(SyntaxError) -> String {
    position += 1
    var result: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return String(decoding: result, as: UTF8.self)
      case UInt8(ascii: "\\"):
        position += 1
        result += String(try escaped()).utf8
      case 0..<0x20: throw error(expected: "control characters as escapes")
      default:
        result.append(byte)
        position += 1
      }
    }
    throw error(expected: "a closing quote")
  }

  private mutating func escaped() throws(SyntaxError) -> Character {
    guard let byte = next else { throw error(expected: "an escape") }
    if byte == UInt8(ascii: "u") {
      position += 1
      return Character(try escapedScalar())
    }
    guard let meaning = Self.escapes[byte] else { throw error(expected: "an escape") }
    position += 1
    return meaning
  }

  private static let escapes: [UInt8: Character] = [
    UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/",
    UInt8(ascii: "b"): "\u{8}", UInt8(ascii: "f"): "\u{c}", UInt8(ascii: "n"): "\n",
    UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
  ]

  private mutating func escapedScalar() throws(SyntaxError) -> Unicode.Scalar {
    let first = try hexWord()
    guard (0xd800..<0xdc00).contains(first) else { return Unicode.Scalar(first) ?? "\u{fffd}" }
    let start = position
    guard skip("\\"), skip("u") else {
      position = start
      return "\u{fffd}"
    }
    let second = try hexWord()
    guard (0xdc00..<0xe000).contains(second) else {
      position = start
      return "\u{fffd}"
    }
    return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)) ?? "\u{fffd}"
  }

  private mutating func hexWord() throws(SyntaxError) -> UInt32 {
    var word: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw error(expected: "four hexadecimal digits")
      }
      word = word << 4 | UInt32(digit)
      position += 1
    }
    return word
  }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    return position - start
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard let byte = next, UInt32(byte) == character.value else { return false }
    position += 1
    return true
  }

  private func error(expected: String) -> SyntaxError {
    let before = bytes[..<position]
    let lineStart = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    return SyntaxError(
      line: before.count { $0 == 0x0a } + 1, column: position - lineStart + 1,
      found: next.map { "\"\(PrintableText.of([$0]))\"" } ?? "the end of the file",
      expected: expected)
  }
}
