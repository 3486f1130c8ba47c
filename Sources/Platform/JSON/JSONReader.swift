/// Reads untrusted JSON (RFC 8259) with bounded depth, and locates errors.
package struct JSONReader {
  /// The treatment of text that readers interpret differently.
  private enum Doubt {
    /// Repaired: invalid UTF-8 and lone surrogates become U+FFFD; of equal names the last counts.
    case mended
    case refused
  }

  private let bytes: [UInt8]
  private var position = 0
  private let depthLimit: Int
  private let doubt: Doubt
  private var repeatedNames: [String] = []

  private init(_ bytes: [UInt8], depthLimit: Int, doubt: Doubt) {
    self.bytes = bytes
    self.depthLimit = depthLimit
    self.doubt = doubt
  }

  /// The value of a whole text, and the repeated names of objects, of which the last counts. Skips
  /// a byte order mark, and repairs invalid text. O(n).
  package static func value(
    of bytes: [UInt8], depthLimit: Int
  ) throws(JSONSyntaxError) -> (value: JSONValue, repeatedNames: [String]) {
    var reader = JSONReader(bytes, depthLimit: depthLimit, doubt: .mended)
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { reader.position = 3 }
    return (try reader.document(), reader.repeatedNames)
  }

  /// The value of a whole text without ambiguity: throws for repeated names, lone surrogates and
  /// invalid UTF-8. O(n).
  package static func strictValue(
    of bytes: [UInt8], depthLimit: Int
  ) throws(JSONSyntaxError) -> JSONValue {
    var reader = JSONReader(bytes, depthLimit: depthLimit, doubt: .refused)
    return try reader.document()
  }

  /// The value of a text in the form of RFC 8785; throws for any other form, so that signed text
  /// has one form. O(n log n).
  package static func canonicalValue(
    of bytes: [UInt8], depthLimit: Int
  ) throws(JSONSyntaxError) -> JSONValue {
    var reader = JSONReader(bytes, depthLimit: depthLimit, doubt: .refused)
    let value = try reader.document()
    let canonical = value.canonical.map { Array($0.utf8) } ?? []
    guard canonical != bytes else { return value }
    reader.position = zip(canonical, bytes).prefix { $0 == $1 }.count
    throw reader.error(expected: "the canonical order and form")
  }

  private mutating func document() throws(JSONSyntaxError) -> JSONValue {
    let value = try value(depth: 0)
    skipSpace()
    guard next == nil else { throw error(expected: "the end of the file") }
    return value
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONValue {
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

  private mutating func object(depth: Int) throws(JSONSyntaxError) -> JSONValue {
    position += 1
    var values: [String: JSONValue] = [:]
    skipSpace()
    if skip("}") { return .object(values) }
    repeat {
      skipSpace()
      guard next == UInt8(ascii: "\"") else { throw error(expected: "a name in quotes") }
      let start = position
      let name = try text()
      skipSpace()
      guard skip(":") else { throw error(expected: "a colon") }
      if values.updateValue(try value(depth: depth + 1), forKey: name) != nil {
        try allow(from: start, expected: "each name once")
        repeatedNames.append(name)
      }
      skipSpace()
    } while skip(",")
    guard skip("}") else { throw error(expected: "a comma or a closing brace") }
    return .object(values)
  }

  private mutating func list(depth: Int) throws(JSONSyntaxError) -> JSONValue {
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

  private mutating func number() throws(JSONSyntaxError) -> JSONValue {
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

  private mutating func text() throws(JSONSyntaxError) -> String {
    let start = position
    position += 1
    var result: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        if let text = String(validating: result, as: UTF8.self) { return text }
        try allow(from: start, expected: "a text in UTF-8")
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

  private mutating func escaped() throws(JSONSyntaxError) -> Character {
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

  private mutating func escapedScalar() throws(JSONSyntaxError) -> Unicode.Scalar {
    let start = position
    let first = try hexWord()
    if let scalar = Unicode.Scalar(first) { return scalar }
    let behind = position
    if first < 0xdc00, skip("\\"), skip("u") {
      let second = try hexWord()
      if (0xdc00..<0xe000).contains(second),
        let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
      {
        return scalar
      }
    }
    try allow(from: start, expected: "both halves of a character")
    position = behind
    return "\u{fffd}"
  }

  private mutating func hexWord() throws(JSONSyntaxError) -> UInt32 {
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

  /// Accepts invalid text that is to be repaired.
  private mutating func allow(from start: Int, expected: String) throws(JSONSyntaxError) {
    guard doubt == .refused else { return }
    position = start
    throw error(expected: expected)
  }

  private func error(expected: String) -> JSONSyntaxError {
    JSONSyntaxError(at: position, in: bytes, expected: expected)
  }
}

/// Where and why a text is not the expected JSON.
package struct JSONSyntaxError: Error, Hashable, CustomStringConvertible {
  /// In bytes.
  package let offset: Int
  /// From 1.
  package let line: Int
  /// In bytes, from 1.
  package let column: Int
  package let found: String
  package let expected: String

  /// A text that is not the expected kind at all.
  package init(found: String, expected: String) {
    (offset, line, column) = (0, 1, 1)
    self.found = found
    self.expected = expected
  }

  /// An error at the byte `position`. O(n).
  init(at position: Int, in bytes: [UInt8], expected: String) {
    offset = position
    let before = bytes[..<position]
    let lineStart = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
    line = before.count { $0 == 0x0a } + 1
    column = position - lineStart + 1
    found = position < bytes.count ? Self.shown(bytes[position]) : "the end of the file"
    self.expected = expected
  }

  /// Where, what was found, and what was expected.
  package var description: String {
    "line \(line), column \(column): found \(found), expected \(expected)"
  }

  /// A printable byte, without terminal control.
  private static func shown(_ byte: UInt8) -> String {
    if (0x20..<0x7f).contains(byte) { return "\"\(Character(Unicode.Scalar(byte)))\"" }
    let digits = String(byte, radix: 16, uppercase: true)
    return "the byte \(digits.count < 2 ? "0" : "")\(digits)"
  }
}
