/// Reads JSON that strangers wrote: strict, bounded in depth, and without two members of one name,
/// of which readers elsewhere might take either.
struct JSONReader {
  /// What is wrong, and where.
  struct Problem: Error, Hashable {
    let reason: String
    /// Bytes before it.
    let offset: Int
  }

  /// How deeply arrays and objects may lie in each other.
  static let maximumDepth = 64

  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads canonical text, and refuses any other text of the same value: what is signed has one
  /// form. O(n log n).
  static func readCanonical(_ bytes: [UInt8]) throws(Problem) -> JSON {
    let value = try read(bytes)
    let canonical = value.canonicalBytes
    guard canonical != bytes else { return value }
    let same = zip(canonical, bytes).prefix { $0 == $1 }.count
    throw Problem(reason: "its fields are not in the canonical order or form", offset: same)
  }

  /// Reads JSON. O(n).
  static func read(_ bytes: [UInt8]) throws(Problem) -> JSON {
    var reader = JSONReader(bytes)
    let value = try reader.value()
    reader.skipSpace()
    guard reader.offset == bytes.count else { throw reader.problem("something follows its end") }
    return value
  }

  private mutating func value() throws(Problem) -> JSON {
    skipSpace()
    switch peek {
    case UInt8(ascii: "{"): return try nested { (reader) throws(Problem) in try reader.group() }
    case UInt8(ascii: "["): return try nested { (reader) throws(Problem) in try reader.list() }
    case UInt8(ascii: "\""): return .text(try text())
    case UInt8(ascii: "t"): return try word("true", .flag(true))
    case UInt8(ascii: "f"): return try word("false", .flag(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func nested(
    _ read: (inout JSONReader) throws(Problem) -> JSON
  ) throws(Problem) -> JSON {
    guard depth < Self.maximumDepth else { throw problem("it is nested too deeply") }
    depth += 1
    defer { depth -= 1 }
    offset += 1
    return try read(&self)
  }

  private mutating func group() throws(Problem) -> JSON {
    var members: [String: JSON] = [:]
    if take("}") { return .group(members) }
    repeat {
      skipSpace()
      let start = offset
      let name = try text()
      guard take(":") else { throw problem("a colon is missing") }
      guard members.updateValue(try value(), forKey: name) == nil else {
        offset = start
        throw problem("the field \"\(name.prefix(80))\" occurs twice")
      }
    } while take(",")
    guard take("}") else { throw problem("a comma or a closing brace is missing") }
    return .group(members)
  }

  private mutating func list() throws(Problem) -> JSON {
    var values: [JSON] = []
    if take("]") { return .list(values) }
    repeat { values.append(try value()) } while take(",")
    guard take("]") else { throw problem("a comma or a closing bracket is missing") }
    return .list(values)
  }

  private mutating func word(_ word: String, _ value: JSON) throws(Problem) -> JSON {
    guard bytes[offset...].starts(with: word.utf8) else { throw problem("a word means nothing") }
    offset += word.utf8.count
    return value
  }

  private mutating func number() throws(Problem) -> JSON {
    let digits = bytes[offset...].prefix { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
    }
    // Double reads more than JSON allows; canonical text is compared byte for byte in the end.
    guard let number = Double(String(decoding: digits, as: UTF8.self)), number.isFinite else {
      throw problem(digits.isEmpty ? "a value is missing" : "a number cannot be read")
    }
    offset += digits.count
    return .number(number)
  }

  private mutating func text() throws(Problem) -> String {
    guard peek == UInt8(ascii: "\"") else { throw problem("a string is missing") }
    offset += 1
    var content: [UInt8] = []
    while let byte = peek {
      offset += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: content, as: UTF8.self) else {
          throw problem("a string is not UTF-8")
        }
        return text
      case UInt8(ascii: "\\"): content += Array(String(try escaped()).utf8)
      case ..<0x20: throw problem("a control character stands in a string")
      default: content.append(byte)
      }
    }
    throw problem("a string has no end")
  }

  private mutating func escaped() throws(Problem) -> Unicode.Scalar {
    guard let byte = peek else { throw problem("a string has no end") }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let unit = try codeUnit()
      if let scalar = Unicode.Scalar(unit) { return scalar }
      guard unit < 0xDC00, bytes[offset...].starts(with: "\\u".utf8) else {
        throw problem("half a character is escaped")
      }
      offset += 2
      let low = try codeUnit()
      guard (0xDC00...0xDFFF).contains(low),
        let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
      else { throw problem("half a character is escaped") }
      return scalar
    default: throw problem("an escape means nothing")
    }
  }

  private mutating func codeUnit() throws(Problem) -> UInt32 {
    let digits = String(decoding: bytes[offset...].prefix(4), as: UTF8.self)
    guard digits.utf8.count == 4, !digits.hasPrefix("+"), let unit = UInt32(digits, radix: 16)
    else { throw problem("an escape is cut off") }
    offset += 4
    return unit
  }

  private var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  /// Takes a character, and space before it. - Returns: whether it was there.
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard peek == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = peek, " \t\n\r".utf8.contains(byte) { offset += 1 }
  }

  private func problem(_ reason: String) -> Problem { Problem(reason: reason, offset: offset) }
}
