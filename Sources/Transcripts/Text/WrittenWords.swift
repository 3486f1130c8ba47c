/// Splits text into words, and joins words to text.
package enum WrittenWords {
  /// The parts between white space. O(n).
  static func split(_ text: String) -> [String] {
    text.unicodeScalars.split(whereSeparator: \.isSpace).map { String($0) }
  }

  /// Words joined with spaces, except between words of scripts without spaces. O(n).
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

  /// Whether a word is the last of its sentence, by its punctuation. O(its length).
  package static func endsSentence(_ word: String) -> Bool {
    let closing: Set<Character> = ["\"", "'", ")", "]", "»", "”", "’"]
    guard let last = word.reversed().first(where: { !closing.contains($0) }) else { return false }
    return [".", "!", "?", "…", "。", "！", "？"].contains(last)
  }

  /// Text without empty lines and trailing white space. O(n).
  static func tidied(_ text: String) -> String {
    lines(of: text).joined(separator: "\n")
  }

  /// Text in one line. O(n).
  static func onOneLine(_ text: String) -> String {
    lines(of: text).joined(separator: " ").replacing("\t", with: " ")
  }

  /// The trimmed lines that are not blank. O(n).
  static func lines(of text: String) -> [String] {
    text.unicodeScalars.split(whereSeparator: \.endsLine).compactMap { line in
      let trimmed = line.trimmed
      return trimmed.isEmpty ? nil : String(trimmed)
    }
  }

  /// Text without surrounding white space. O(n).
  static func trimmed(_ text: String) -> String { String(text.unicodeScalars[...].trimmed) }
}

extension Substring.UnicodeScalarView {
  fileprivate var trimmed: Substring.UnicodeScalarView {
    var rest = self.drop(while: \.isSpace)
    while rest.last?.isSpace == true { rest.removeLast() }
    return rest
  }
}
