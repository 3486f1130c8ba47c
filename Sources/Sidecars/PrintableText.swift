/// Bytes that somebody else chose, in a form that can be shown: one line, nothing that steers a
/// terminal or turns the direction of writing, and no two different byte strings alike.
package enum PrintableText {
  /// Text as it is; what is no text as `\xE4`, control characters as `\n` or `\u{202E}`, and a
  /// backslash as `\\`. O(n).
  package static func of(_ bytes: [UInt8]) -> String {
    var result = ""
    var rest = bytes[...]
    while let first = rest.first {
      if let scalar = scalar(at: rest) {
        result += shown(scalar)
        rest.removeFirst(UTF8.width(scalar))
      } else {
        result += "\\x" + hex(UInt32(first), digits: 2)
        rest.removeFirst()
      }
    }
    return result
  }

  /// The character that the bytes begin with; nil where they are not UTF-8.
  private static func scalar(at bytes: ArraySlice<UInt8>) -> Unicode.Scalar? {
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    guard case .valid(let encoded) = parser.parseScalar(from: &iterator) else { return nil }
    return Unicode.UTF8.decode(encoded)
  }

  private static func shown(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    case "\\": "\\\\"
    case _ where scalar.isInvisible: "\\u{" + hex(scalar.value, digits: 1) + "}"
    default: String(Character(scalar))
    }
  }

  private static func hex(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

extension Unicode.Scalar {
  /// Whether it shows nothing of its own: control characters, the marks that turn the direction
  /// of writing, line separators, and what Unicode has not assigned.
  package var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
    default: false
    }
  }

  /// Whether it joins or parts the characters beside it, as emoji, Persian and Hindi need.
  package var isJoiner: Bool { value == 0x200c || value == 0x200d }
}
