extension JSONValue {
  /// The value as JSON without spaces, its names in the order of RFC 8785 and its numbers as they
  /// were written: equal values give equal text. O(n log n).
  public var compact: String {
    var text = ""
    write(to: &text) { $0 }
    return text
  }

  /// The text that the JSON Canonicalization Scheme, RFC 8785, gives the value: what is signed.
  /// Nil where a number is out of a double's range. O(n log n).
  public var canonical: String? {
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
      // By UTF-16 code units, as RFC 8785 3.2.3 has it.
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
