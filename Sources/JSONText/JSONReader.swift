/// Reads JSON that a stranger wrote (RFC 8259): it never recurses deeper than it was told, and
/// says where the text is wrong.
public struct JSONReader {
  /// What is done about text that readers elsewhere may take in several ways.
  private enum Doubt {
    /// It is mended: bytes that are no UTF-8, and halves of surrogate pairs, become U+FFFD; of two
    /// members of one name the last counts.
    case mended
    /// It is refused.
    case refused
  }

  private let bytes: [UInt8]
  private var position = 0
  private let depthLimit: Int
  private let doubt: Doubt
  // Names that an object has more than once.
  private var repeatedNames: [String] = []

  private init(_ bytes: [UInt8], depthLimit: Int, doubt: Doubt) {
    self.bytes = bytes
    self.depthLimit = depthLimit
    self.doubt = doubt
  }

  /// The value of a whole text, and the names that were given twice in one object, of which the
  /// last counts. A byte order mark is skipped, and what is no text is mended. O(n).
  public static func value(
    of bytes: [UInt8], depthLimit: Int
  ) throws(JSONSyntaxError) -> (value: JSONValue, repeatedNames: [String]) {
    var reader = JSONReader(bytes, depthLimit: depthLimit, doubt: .mended)
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { reader.position = 3 }
    return (try reader.document(), reader.repeatedNames)
  }

  /// The value of a whole text that means one thing to every reader: names that come twice, halves
  /// of surrogate pairs and bytes that are no UTF-8 are refused. O(n).
  public static func strictValue(
    of bytes: [UInt8], depthLimit: Int
  ) throws(JSONSyntaxError) -> JSONValue {
    var reader = JSONReader(bytes, depthLimit: depthLimit, doubt: .refused)
    return try reader.document()
  }

  /// The value of a text in the form of RFC 8785; every other text of the same value is refused, so
  /// that what is signed has one form. O(n log n).
  public static func canonicalValue(
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

  /// Lets doubtful text pass that is to be mended.
  private mutating func allow(from start: Int, expected: String) throws(JSONSyntaxError) {
    guard doubt == .refused else { return }
    position = start
    throw error(expected: expected)
  }

  private func error(expected: String) -> JSONSyntaxError {
    JSONSyntaxError(at: position, in: bytes, expected: expected)
  }
}
