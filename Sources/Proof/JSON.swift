/// A JSON value whose text is the same wherever it is written: RFC 8785, the JSON Canonicalization
/// Scheme. What is signed is that text.
public indirect enum JSON: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case flag(Bool)
  /// A finite number.
  case number(Double)
  /// A string.
  case text(String)
  /// An array.
  case list([JSON])
  /// An object; its members have no order of their own.
  case group([String: JSON])

  /// A whole number; exact up to 2⁵³.
  public static func integer(_ value: Int) -> JSON { .number(Double(value)) }

  /// An object without the members that are nil.
  public static func group(leavingOut members: [String: JSON?]) -> JSON {
    .group(members.compactMapValues { $0 })
  }

  /// The member of an object; nil where there is none, or this is no object.
  public subscript(name: String) -> JSON? {
    guard case .group(let members) = self else { return nil }
    return members[name]
  }

  /// The string; nil for anything else.
  public var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  /// The array; nil for anything else.
  public var list: [JSON]? {
    if case .list(let list) = self { list } else { nil }
  }

  /// The whole number; nil for anything else.
  public var integer: Int? {
    if case .number(let number) = self { Int(exactly: number) } else { nil }
  }

  /// The canonical text. O(n log n) in the number of members.
  public var canonicalText: String {
    var text = ""
    write(to: &text)
    return text
  }

  /// The canonical text in UTF-8.
  public var canonicalBytes: [UInt8] { Array(canonicalText.utf8) }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .flag(let flag): text += flag ? "true" : "false"
    case .number(let number): text += ECMAScriptNumber.text(of: number)
    case .text(let string): Self.quote(string, to: &text)
    case .list(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .group(let members):
      text += "{"
      // By UTF-16 code units, as RFC 8785 3.2.3 has it.
      let sorted = members.sorted { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }
      for (index, member) in sorted.enumerated() {
        if index > 0 { text += "," }
        Self.quote(member.key, to: &text)
        text += ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  /// Writes a string literal: RFC 8785 3.2.2.2.
  private static func quote(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\u{8}": text += "\\b"
      case "\t": text += "\\t"
      case "\n": text += "\\n"
      case "\u{C}": text += "\\f"
      case "\r": text += "\\r"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
