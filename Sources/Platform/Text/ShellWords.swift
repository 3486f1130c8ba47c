package enum ShellWords {
  /// A line for a shell: words with special characters are quoted. O(n).
  package static func line(_ words: [String]) -> String { words.map(quoted).joined(separator: " ") }

  /// A path as it is, or as a shell reads it if characters in it would steer a terminal:
  /// `$'a\nb.wav'`. O(n).
  package static func visible(path: String) -> String {
    path.unicodeScalars.contains { $0.isSteering } ? escaped(path) : path
  }

  /// The first word of a line, unquoted; nil if there is none, or a quotation is not closed. O(its
  /// length).
  package static func first(of line: String) -> String? {
    var rest = line[...]
    return try? takeWord(from: &rest)
  }

  /// A line with another first word. O(its length).
  package static func line(_ line: String, calling program: String) -> String {
    var rest = line[...]
    _ = try? takeWord(from: &rest)
    return quoted(program) + rest
  }

  /// The words of a line, unquoted; nil if a quotation is not closed. What a shell would replace, such
  /// as a variable, stays as it is. O(its length).
  package static func words(of line: String) -> [String]? {
    var rest = line[...]
    var words: [String] = []
    do throws(OpenQuotation) {
      while let word = try takeWord(from: &rest) { words.append(word) }
    } catch { return nil }
    return words
  }

  /// A line ends inside a quotation.
  private struct OpenQuotation: Error {}

  /// Takes the first word off a line; nil if none is left.
  private static func takeWord(from line: inout Substring) throws(OpenQuotation) -> String? {
    // Scalars, as a quotation mark may stand before a combining character.
    var rest = line.unicodeScalars
    defer { line = Substring(rest) }
    var word: String.UnicodeScalarView?
    // `$` stands for the quotation `$'…'`.
    var mark: Unicode.Scalar?
    func add(_ scalar: Unicode.Scalar) {
      var longer = word.take() ?? String.UnicodeScalarView()
      longer.append(scalar)
      word = longer
    }
    while let scalar = rest.first {
      let isSpace = mark == nil && scalar.properties.isWhitespace
      if isSpace, word != nil { break }
      rest.removeFirst()
      if isSpace { continue }
      if scalar == "\\", mark != "'" {
        guard let next = rest.popFirst() else { throw OpenQuotation() }
        add(mark == "$" ? meaning(of: next, before: &rest) : next)
      } else if let open = mark, scalar == (open == "$" ? "'" : open) {
        mark = nil
      } else if mark == nil, scalar == "'" || scalar == "\"" {
        (mark, word) = (scalar, word ?? String.UnicodeScalarView())
      } else if mark == nil, scalar == "$", rest.first == "'" {
        rest.removeFirst()
        (mark, word) = ("$", word ?? String.UnicodeScalarView())
      } else {
        add(scalar)
      }
    }
    guard mark == nil else { throw OpenQuotation() }
    return word.map { String($0) }
  }

  /// What a character means behind a backslash in `$'…'`; the inverse of ``escaped(_:)``.
  private static func meaning(
    of scalar: Unicode.Scalar, before rest: inout Substring.UnicodeScalarView
  ) -> Unicode.Scalar {
    switch scalar {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "e": return "\u{1B}"
    case "u":
      let digits = rest.prefix(4).prefix { $0.properties.isASCIIHexDigit }
      rest.removeFirst(digits.count)
      return UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init) ?? scalar
    default: return scalar
    }
  }

  /// A word in the quotation that every shell reads, whatever is in it. O(n).
  package static func singleQuoted(_ word: String) -> String {
    "'" + word.replacing(scalar: "'", with: #"'\''"#) + "'"
  }

  private static func quoted(_ word: String) -> String {
    let plain = word.unicodeScalars.allSatisfy { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "/", ".", "_", "-", "+", ",", ":", "@", "=": true
      default: false
      }
    }
    guard !plain || word.isEmpty else { return word }
    if word.unicodeScalars.contains(where: { $0.isSteering }) { return escaped(word) }
    return singleQuoted(word)
  }

  /// A word in the quotation of bash, ksh and zsh in which every character can be printed.
  private static func escaped(_ word: String) -> String {
    var text = ""
    for scalar in word.unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case "\u{1B}": text += "\\e"
      case "'", "\\": text += "\\\(scalar)"
      case _ where scalar.isSteering:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    return "$'\(text)'"
  }
}

extension Unicode.Scalar {
  /// Whether it is invisible and may change how the text around it is shown: terminal control
  /// characters, line separators, and direction marks (Bidi_Control of Unicode), but no joiners of
  /// letters and emoji.
  package var isSteering: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }
}

/// Text as programs read it, scalar by scalar or byte by byte: with a combining character behind it, a
/// slash or a quotation mark is another `Character`.
extension String {
  /// The text with another one in place of a scalar. O(n).
  package func replacing(scalar: Unicode.Scalar, with text: String) -> String {
    unicodeScalars.split(separator: scalar, omittingEmptySubsequences: false)
      .map { String($0) }.joined(separator: text)
  }
}

extension StringProtocol {
  /// The names in a path, as the kernel parts it, without empty ones. O(n).
  package var pathNames: [String] {
    utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
  }
}

/// Text that is equal only to the same bytes. Swift equates `é` in one scalar and in two; a disk
/// has two files.
package struct ExactText: Hashable, Sendable {
  private let bytes: [UInt8]

  package init(_ text: String) { bytes = Array(text.utf8) }
}
