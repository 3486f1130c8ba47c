internal import FoundationEssentials

/// A JSON value that keeps the digits of its numbers, so that foreign data stay lossless.
package indirect enum JSONValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  /// The digits as written.
  case number(String)
  case text(String)
  case list([JSONValue])
  case object([String: JSONValue])

  package static func integer(_ value: Int) -> JSONValue { .number(String(value)) }

  /// A finite number, in the digits of RFC 8785.
  package static func decimal(_ value: Double) -> JSONValue {
    .number(ECMAScriptNumber.text(of: value))
  }

  /// An object without its nil members.
  package static func object(leavingOut members: [String: JSONValue?]) -> JSONValue {
    .object(members.compactMapValues { $0 })
  }

  /// Nil for a missing member, or if this is no object.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  package var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  package var list: [JSONValue]? {
    if case .list(let list) = self { list } else { nil }
  }

  package var integer: Int? {
    if case .number(let digits) = self { Int(digits) } else { nil }
  }

  /// The nearest `Double`; nil for anything else.
  package var number: Double? {
    if case .number(let digits) = self { Double(digits) } else { nil }
  }
}

extension Encodable {
  /// The value as one line of JSON, with its names in order and its slashes as they are: equal
  /// values give equal text. O(n log n).
  /// - Throws: for a number that is not finite, and what its own `encode(to:)` throws.
  package func jsonText() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

/// Encodes values as one line of JSON with sorted keys.
package enum JSONText {
  package static func of(_ value: some Encodable) -> String { (try? value.jsonText()) ?? "{}" }
}

extension Decodable {
  /// Reads a text of JSON. O(n).
  package init(jsonText text: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
  }
}

extension JSONValue: Encodable {
  /// Encodes the value; a number with more digits than a double holds loses them.
  package func encode(to encoder: any Encoder) throws {
    switch self {
    case .list(let values):
      var container = encoder.unkeyedContainer()
      for value in values { try container.encode(value) }
      return
    case .object(let values):
      var container = encoder.singleValueContainer()
      try container.encode(values)
      return
    case .null, .boolean, .number, .text: break
    }
    var container = encoder.singleValueContainer()
    switch self {
    case .boolean(let isTrue): try container.encode(isTrue)
    case .number(let digits):
      if let whole = Int64(digits) {
        try container.encode(whole)
      } else {
        try container.encode(Double(digits))
      }
    case .text(let text): try container.encode(text)
    case .null, .list, .object: try container.encodeNil()
    }
  }
}

extension JSONValue {
  /// JSON without spaces, names in the order of RFC 8785, numbers as written: equal values give
  /// equal text. O(n log n).
  package var compact: String {
    var text = ""
    write(to: &text) { $0 }
    return text
  }

  /// The JSON Canonicalization Scheme, RFC 8785, for signatures. Nil if a number is out of a
  /// double's range. O(n log n).
  package var canonical: String? {
    var isInRange = true
    var text = ""
    write(to: &text) { digits in
      guard let number = Double(digits), number.isFinite else {
        isInRange = false
        return digits
      }
      return ECMAScriptNumber.text(of: number)
    }
    return isInRange ? text : nil
  }

  private func write(to text: inout String, numbers number: (String) -> String) {
    switch self {
    case .null: text += "null"
    case .boolean(let isTrue): text += isTrue ? "true" : "false"
    case .number(let digits): text += number(digits)
    case .text(let value): JSONString.append(value, to: &text)
    case .list(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text, numbers: number)
      }
      text += "]"
    case .object(let members):
      text += "{"
      // By UTF-16 code units (RFC 8785 3.2.3).
      let sorted = members.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
      for (index, member) in sorted.enumerated() {
        if index > 0 { text += "," }
        JSONString.append(member.key, to: &text)
        text += ":"
        member.value.write(to: &text, numbers: number)
      }
      text += "}"
    }
  }
}

/// Numbers in ECMAScript's form (RFC 8785 3.2.2.3): the shortest digits that read back the same,
/// laid out by ECMA-262, `Number::toString`.
enum ECMAScriptNumber {
  static func text(of number: Double) -> String {
    precondition(number.isFinite, "JSON knows finite numbers only")
    if number == 0 { return "0" }
    let sign = number < 0 ? "-" : ""
    let (digits, point) = shortest(abs(number))
    let count = digits.count
    switch point {
    case count...21:
      return sign + digits + zeros(point - count)
    case 1...21:
      return sign + digits.prefix(point) + "." + digits.dropFirst(point)
    case -5...0:
      return sign + "0." + zeros(-point) + digits
    default:
      let exponent = point - 1
      let fraction = count == 1 ? "" : "." + digits.dropFirst()
      return sign + digits.prefix(1) + fraction + (exponent < 0 ? "e-" : "e+")
        + String(abs(exponent))
    }
  }

  /// The shortest digits of a positive number, and the position of the point behind the first of
  /// them.
  private static func shortest(_ number: Double) -> (digits: String, point: Int) {
    // Swift prints the shortest digits too, in another layout.
    let parts = number.description.split(separator: "e")
    let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
    let fraction = mantissa.count > 1 && mantissa[1] != "0" ? mantissa[1] : ""
    var point = mantissa[0].count + (parts.count > 1 ? Int(parts[1]) ?? 0 : 0)
    var digits = String(mantissa[0] + fraction)
    let leading = digits.prefix { $0 == "0" }.count
    digits.removeFirst(leading)
    point -= leading
    while digits.count > 1, digits.last == "0" { digits.removeLast() }
    return (digits, point)
  }

  private static func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }
}

/// String literals of JSON.
package enum JSONString {
  /// The literal of a text with minimal escapes: RFC 8785, 3.2.2.2. O(n).
  package static func quoted(_ text: String) -> String {
    var literal = ""
    append(text, to: &literal)
    return literal
  }

  /// Appends the literal of a text.
  static func append(_ text: String, to result: inout String) {
    result += "\""
    // Most texts need no escape, and are copied at once.
    guard text.utf8.contains(where: needsEscape) else {
      result += text
      result += "\""
      return
    }
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\u{8}": result += "\\b"
      case "\t": result += "\\t"
      case "\n": result += "\\n"
      case "\u{C}": result += "\\f"
      case "\r": result += "\\r"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    result += "\""
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }
}
