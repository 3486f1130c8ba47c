/// String literals of JSON.
public enum JSONString {
  /// The literal of a text, in which only what must be escaped is: RFC 8785, 3.2.2.2. O(n).
  public static func quoted(_ text: String) -> String {
    var literal = ""
    append(text, to: &literal)
    return literal
  }

  /// Writes the literal of a text behind others.
  static func append(_ text: String, to result: inout String) {
    result += "\""
    // Most texts need no escape, and are copied in one go.
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
