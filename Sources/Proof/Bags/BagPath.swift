/// A path as manifests write it: on one line, whatever is in it. RFC 8493, 2.1.3: CR, LF and the
/// percent sign are written `%0D`, `%0A` and `%25`, and nothing else is.
enum BagPath {
  /// What a manifest says for a path.
  static func encoded(_ path: String) -> String {
    var result = ""
    for scalar in path.unicodeScalars {
      switch scalar {
      case "\r": result += "%0D"
      case "\n": result += "%0A"
      case "%": result += "%25"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The path that a manifest means. What stands after a percent sign and is none of the three is
  /// left as it is: those who wrote bags before encoded no percent signs.
  static func decoded(_ text: some Collection<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var rest = text[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%"),
        let meant = meanings[String(decoding: rest.prefix(2), as: UTF8.self).uppercased()]
      else {
        result.append(byte)
        continue
      }
      result.append(meant)
      rest = rest.dropFirst(2)
    }
    return result
  }

  /// Whether a byte stands between the parts of a line.
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static let meanings: [String: UInt8] = ["0D": 0x0D, "0A": 0x0A, "25": 0x25]
}
