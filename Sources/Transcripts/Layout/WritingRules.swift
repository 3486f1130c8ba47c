/// Typesetting rules of scripts: sentence ends, line breaks, character widths.
enum WritingRules {
  private static let sentenceEnds: Set<Character> = [
    ".", "!", "?", "…", "。", "！", "？", "؟", "।", "॥", "።", "։", "‼", "⁉", "．",
  ]
  private static let clauseEnds: Set<Character> = [
    ",", ";", ":", "—", "–", "、", "，", "；", "：", "،", "؛", "･", "・",
  ]
  private static let closing: Set<Character> = [
    ")", "]", "}", "\"", "'", "”", "’", "»", "›", "」", "』", "）", "】", "〉", "》", "］", "｝", "〕",
  ]
  private static let opening: Set<Character> = [
    "(", "[", "{", "“", "‘", "«", "‹", "「", "『", "（", "【", "〈", "《", "［", "｛", "〔",
  ]
  /// Japanese characters that must not begin a line.
  private static let following: Set<Character> = [
    "ー", "々", "ゝ", "ゞ", "ヽ", "ヾ", "ぁ", "ぃ", "ぅ", "ぇ", "ぉ", "っ", "ゃ", "ゅ", "ょ", "ゎ", "ァ",
    "ィ", "ゥ", "ェ", "ォ", "ッ", "ャ", "ュ", "ョ", "ヮ", "〜", "～", "％", "%",
  ]

  /// How wide a text is, in columns.
  static func width(of text: String) -> Int {
    text.reduce(0) { width, character in
      guard let first = character.unicodeScalars.first else { return width }
      if character.unicodeScalars.allSatisfy({ $0.properties.generalCategory == .format }) {
        return width
      }
      return width + (first.isWide ? 2 : 1)
    }
  }

  /// The quality of a break after a word.
  static func ending(of word: String, before next: String?) -> SubtitleAtom.Ending {
    let core = word.reversed().drop { closing.contains($0) }
    guard let last = core.first else { return .word }
    if sentenceEnds.contains(last) {
      // `Dr. Smith` and `approx. half` are no sentence ends.
      let isAbbreviation =
        last == "." && (next?.first?.isLowercase == true || core.count <= 3 && next != nil)
      return isAbbreviation ? .word : .sentence
    }
    return clauseEnds.contains(last) ? .clause : .word
  }

  /// The quality of a break after part of a word.
  static func inside(_ part: String) -> SubtitleAtom.Ending {
    guard let last = part.last else { return .character }
    if sentenceEnds.contains(last) { return .sentence }
    if clauseEnds.contains(last) { return .clause }
    return isIdeographic(last) ? .character : .syllable
  }

  /// The parts of a word that lines may break after: the whole word, or in scripts without spaces
  /// its characters with their punctuation. O(n).
  static func parts(of word: String) -> [String] {
    guard word.unicodeScalars.contains(where: \.isWrittenWithoutSpaces) else { return [word] }
    var parts: [String] = []
    var last: Character?
    for character in word {
      let mayBreak =
        last.map { last in
          (isSpaceless(last) || isSpaceless(character)) && !opening.contains(last)
            && !closing.contains(character) && !sentenceEnds.contains(character)
            && !clauseEnds.contains(character) && !following.contains(character)
        } ?? true
      if mayBreak { parts.append("") }
      parts[parts.count - 1].append(character)
      last = character
    }
    return parts
  }

  private static func isSpaceless(_ character: Character) -> Bool {
    character.unicodeScalars.first?.isWrittenWithoutSpaces == true
  }

  private static func isIdeographic(_ character: Character) -> Bool {
    character.unicodeScalars.first?.isWide == true
  }
}
