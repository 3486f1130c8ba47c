import Platform

/// `Name:`, `NAME:` or `[Name]:` at the start of a plain-text paragraph.
///
/// Many candidates are the start of a sentence, `Remember: …`: `SpeakerLabels` decides.
struct SpeakerLabel: Hashable {
  /// The name without brackets and colon.
  let name: String
  /// Whether its form occurs only in transcripts: capitals, or brackets.
  let isMarked: Bool
  /// The text after the colon on the same line.
  let rest: String

  private static let longest = 40
}

extension SpeakerLabel {
  /// The label at the start of a line: a name in brackets, or at most four words of letters and
  /// digits before the first colon, of which the first is capitalised or of a script without case,
  /// or the last ends in a digit; nil otherwise. O(1) except for `rest`.
  init?(_ line: String) {
    if case (let name?, let rest) = BracketedSpeaker.split(line) {
      self.init(name: name, isMarked: true, rest: rest)
      return
    }
    let head = line.prefix(Self.longest + 1)
    guard let colon = head.firstIndex(where: { $0 == ":" || $0 == "：" }) else { return nil }
    let name = String(line[..<colon])
    let rest = line[line.index(after: colon)...]
    guard rest.isEmpty || rest.first?.isWhitespace == true || line[colon] == "：",
      Self.isName(name)
    else { return nil }
    self.init(
      name: name, isMarked: Self.isInCapitals(name), rest: WrittenWords.trimmed(String(rest)))
  }

  /// Whether every word has the form of a name: `Dr. Smith`, `speaker 2`, `李雷`, but not `My
  /// question is`.
  var hasNameForm: Bool {
    name.last?.isNumber == true
      || name.split(separator: " ").allSatisfy { $0.first?.isLowercase == false }
  }

  private static func isName(_ name: String) -> Bool {
    guard let first = name.first, let last = name.last, !last.isWhitespace, first.isLetter else {
      return false
    }
    let words = name.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count <= 4, words.allSatisfy({ !$0.isEmpty }) else { return false }
    return (!first.isLowercase || last.isNumber)
      && name.allSatisfy { $0.isLetter || $0.isNumber || " .'’-_()".contains($0) }
      // A sentence may end before the colon's.
      && words.dropLast().allSatisfy { !$0.hasSuffix(".") || $0.count <= 4 }
  }

  private static func isInCapitals(_ name: String) -> Bool {
    name.count(where: \.isUppercase) >= 2 && !name.contains(where: \.isLowercase)
  }
}

/// The speaker as part of the text, for formats without a field for it: `[Name]: text`.
enum BracketedSpeaker {
  /// The longest accepted name, in characters.
  private static let longestName = 80

  /// The speaker at the start of a text, and the rest; a name without text is text. O(n).
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
      .replacing(scalar: "[", with: "(").replacing(scalar: "]", with: ")")
    return "[\(name)]:" + (text.isEmpty ? "" : " " + text)
  }
}
