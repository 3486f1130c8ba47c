/// A piece of JSON as it was written: numbers keep their digits, so that what is kept for others
/// loses nothing.
public indirect enum JSONValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case boolean(Bool)
  /// A number's digits, as RFC 8259 allows them.
  case number(String)
  /// Text.
  case text(String)
  /// A list.
  case list([JSONValue])
  /// Names and values.
  case object([String: JSONValue])

  /// For messages: `the number 12`, `a list`, `the text "abc"`.
  public var summary: String {
    switch self {
    case .null: "null"
    case .boolean(let isTrue): "\(isTrue)"
    case .number(let digits): "the number \(digits.prefix(24))"
    case .text(let text):
      "the text \"\(PrintableText.of(Array(text.prefix(40).utf8)))\(text.count > 40 ? "…" : "")\""
    case .list: "a list"
    case .object: "an object"
    }
  }

  /// The value as compact JSON whose names are in the order of their UTF-8: equal values give
  /// equal text. O(n log n).
  public var canonical: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .boolean(let isTrue): text += isTrue ? "true" : "false"
    case .number(let digits): text += digits
    case .text(let value): Self.write(value, to: &text)
    case .list(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .object(let values):
      text += "{"
      let order = values.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      for (index, name) in order.enumerated() {
        if index > 0 { text += "," }
        Self.write(name, to: &text)
        text += ":"
        values[name]?.write(to: &text)
      }
      text += "}"
    }
  }

  /// Only what must be escaped is (RFC 8785, 3.2.2.2).
  private static func write(_ value: String, to text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{8}": text += "\\b"
      case "\u{c}": text += "\\f"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}
