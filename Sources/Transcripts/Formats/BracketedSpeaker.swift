/// Who speaks, where a format has no other place for it than the text: `[Name]: text`.
enum BracketedSpeaker {
  /// The longest name that is believed, in characters.
  private static let longestName = 80

  /// The speaker at the beginning of a text, and the rest; a name with nothing behind it is text.
  /// O(n).
  static func split(_ text: String) -> (speaker: String?, rest: String) {
    guard text.hasPrefix("["), let end = text.prefix(longestName).firstIndex(of: "]") else {
      return (nil, text)
    }
    let name = WrittenWords.trimmed(String(text[text.index(after: text.startIndex)..<end]))
    let behind = text[text.index(after: end)...]
    let rest = WrittenWords.trimmed(String(behind.dropFirst()))
    guard behind.hasPrefix(":"), !rest.isEmpty, !name.isEmpty,
      !name.unicodeScalars.contains(where: \.endsLine)
    else {
      return (nil, text)
    }
    return (name, rest)
  }

  /// The text with its speaker; brackets in names become parentheses. O(n).
  static func joined(_ speaker: String?, _ text: String) -> String {
    guard let speaker, !WrittenWords.trimmed(speaker).isEmpty else { return text }
    let name = WrittenWords.onOneLine(speaker)
      .replacing("[", with: "(").replacing("]", with: ")")
    return "[\(name)]:" + (text.isEmpty ? "" : " " + text)
  }
}
