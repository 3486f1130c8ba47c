/// Untrusted bytes in printable form: one line, without terminal control or direction marks, and
/// injective.
enum PrintableText {
  /// Text as it is; invalid UTF-8 as `\xE4`, control characters as `\n` or `\u{202E}`, and a
  /// backslash as `\\`. O(n).
  static func of(_ bytes: [UInt8]) -> String {
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

  /// The bytes of which `of` made a text; nil if it made none like that. O(n).
  static func bytes(of printable: String) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = printable.unicodeScalars[...]
    while let first = rest.popFirst() {
      guard first == "\\" else {
        bytes += Array(String(Character(first)).utf8)
        continue
      }
      switch rest.popFirst() {
      case "n": bytes.append(0x0A)
      case "r": bytes.append(0x0D)
      case "t": bytes.append(0x09)
      case "\\": bytes.append(UInt8(ascii: "\\"))
      case "x":
        guard rest.count > 1, let byte = UInt8(digits(rest.prefix(2)), radix: 16) else {
          return nil
        }
        bytes.append(byte)
        rest = rest.dropFirst(2)
      case "u":
        guard rest.popFirst() == "{", let end = rest.firstIndex(of: "}"),
          let scalar = UInt32(digits(rest[..<end]), radix: 16).flatMap(Unicode.Scalar.init)
        else { return nil }
        bytes += Array(String(Character(scalar)).utf8)
        rest = rest[end...].dropFirst()
      default: return nil
      }
    }
    return bytes
  }

  private static func digits(_ scalars: Substring.UnicodeScalarView) -> String {
    String(Substring(scalars))
  }

  /// The first character of the bytes; nil if they are not UTF-8.
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
  /// Control characters, direction marks, line separators, and unassigned characters.
  var isInvisible: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
    default: false
    }
  }

  /// Whether it joins or separates its neighbours, as emoji, Persian and Hindi need.
  var isJoiner: Bool { value == 0x200c || value == 0x200d }
}

extension PrintableText {
  /// Untrusted text on one line, with single spaces, without control characters and marks that
  /// change the writing direction, cut after `limit` characters; nil if nothing is left. O(n).
  static func plain(_ text: String, limit: Int) -> String? {
    var cleaned = ""
    var isAfterSpace = true
    for scalar in text.unicodeScalars {
      if scalar.properties.isWhitespace {
        if !isAfterSpace { cleaned += " " }
        isAfterSpace = true
      } else if !scalar.isInvisible || scalar.isJoiner {
        cleaned.unicodeScalars.append(scalar)
        isAfterSpace = false
      }
    }
    if cleaned.hasSuffix(" ") { cleaned.removeLast() }
    cleaned = String(cleaned.prefix(limit))
    return cleaned.isEmpty ? nil : cleaned
  }

  /// Untrusted bytes as lossless text: control characters, percent signs and invalid UTF-8 are
  /// written as `%0A`. O(n).
  static func escaped(_ bytes: some Collection<UInt8>) -> String {
    var result = ""
    var rest = Array(bytes)[...]
    while let first = rest.first {
      var parser = Unicode.UTF8.ForwardParser()
      var iterator = rest.makeIterator()
      if case .valid(let encoded) = parser.parseScalar(from: &iterator), first >= 0x20,
        first != 0x7f, first != UInt8(ascii: "%")
      {
        result.unicodeScalars.append(Unicode.UTF8.decode(encoded))
        rest.removeFirst(encoded.count)
      } else {
        let digits = String(first, radix: 16, uppercase: true)
        result += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
        rest.removeFirst()
      }
    }
    return result
  }
}

/// Paths as text, cut at bytes: names that look alike may be different files.
enum PathText {
  /// Everything before the last slash; empty if there is none.
  static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
    return String(path[..<slash])
  }

  /// What follows the last slash.
  static func name(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
    return String(path[path.utf8.index(after: slash)...])
  }

  /// A name without its extension; a leading dot begins none.
  static func stem(of name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
      return name
    }
    return String(name[..<dot])
  }

  /// What follows the last dot of a name; empty if there is none.
  static func fileExtension(of name: String) -> String {
    guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
      return ""
    }
    return String(name[name.utf8.index(after: dot)...])
  }

  /// A path below a folder; the folder itself if `path` is empty.
  static func join(_ folder: String, _ path: String) -> String {
    path.isEmpty ? folder : folder.isEmpty ? path : folder == "/" ? "/" + path : folder + "/" + path
  }

  /// Byte order.
  static func isBefore(_ a: String, _ b: String) -> Bool {
    a.utf8.lexicographicallyPrecedes(b.utf8)
  }
}
