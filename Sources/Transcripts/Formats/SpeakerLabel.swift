/// `Name:`, `NAME:` or `[Name]:` at the beginning of a paragraph of plain text.
///
/// What looks like one is a sentence's beginning as often as not, `Remember: …`: `SpeakerLabels`
/// decides which are speakers.
struct SpeakerLabel: Hashable {
  /// Who speaks, without brackets and colon.
  let name: String
  /// Whether it is written as only transcripts write: in capitals, or in brackets.
  let isMarked: Bool
  /// What stands behind the colon on the same line.
  let rest: String

  private static let longest = 40

  /// The label at the beginning of a line; nil where there is none: a name in brackets, or at most
  /// four words of letters and digits before the first colon, of which the first has a capital or is
  /// of a script that has none, or the last ends in a digit. O(1) but for `rest`.
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

  private init(name: String, isMarked: Bool, rest: String) {
    (self.name, self.isMarked, self.rest) = (name, isMarked, rest)
  }

  /// Whether every word of the name begins as names do: `Dr. Smith`, `speaker 2`, `李雷`, and not
  /// `My question is`.
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
