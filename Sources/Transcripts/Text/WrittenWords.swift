/// How text falls into words, and words into text.
enum WrittenWords {
  /// What white space parts, in order. O(n).
  static func split(_ text: String) -> [String] {
    text.unicodeScalars.split(whereSeparator: \.isSpace).map { String($0) }
  }

  /// Words with spaces between them, except where both neighbours belong to a script that has none.
  /// O(n).
  static func joined(_ words: [String]) -> String {
    var text = ""
    for word in words {
      if let last = text.unicodeScalars.last, let next = word.unicodeScalars.first,
        !(last.isWrittenWithoutSpaces && next.isWrittenWithoutSpaces)
      {
        text += " "
      }
      text += word
    }
    return text
  }

  /// Text without what formats of lines cannot hold: empty lines, and white space at the ends of
  /// lines. O(n).
  static func tidied(_ text: String) -> String {
    lines(of: text).joined(separator: "\n")
  }

  /// Text in one line. O(n).
  static func onOneLine(_ text: String) -> String {
    lines(of: text).joined(separator: " ").replacing("\t", with: " ")
  }

  /// The lines that have more than white space, without that at their ends. O(n).
  static func lines(of text: String) -> [String] {
    text.unicodeScalars.split(whereSeparator: \.endsLine).compactMap { line in
      let trimmed = line.trimmed
      return trimmed.isEmpty ? nil : String(trimmed)
    }
  }

  /// Text without white space at its ends. O(n).
  static func trimmed(_ text: String) -> String { String(text.unicodeScalars[...].trimmed) }
}

extension Substring.UnicodeScalarView {
  /// Without white space at the ends.
  fileprivate var trimmed: Substring.UnicodeScalarView {
    var rest = self.drop(while: \.isSpace)
    while rest.last?.isSpace == true { rest.removeLast() }
    return rest
  }
}
