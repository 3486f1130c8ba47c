/// Detects words that describe sounds and are not spoken: `[Applause]`, `(laughs)`.
///
/// Up to six words in square brackets are a direction; in parentheses, up to three words of which
/// one names such a sound.
package enum StageDirections {
  private static let longestInBrackets = 6
  private static let longestInParentheses = 3
  private static let sounds: Set<String> = [
    "applause", "applauds", "applauding", "beep", "cheering", "cheers", "chuckles", "chuckling",
    "cough", "coughing", "coughs", "crosstalk", "crying", "gasps", "inaudible", "indistinct",
    "laugh", "laughing", "laughs", "laughter", "music", "noise", "pause", "pauses", "sighs",
    "silence", "sings", "singing", "sobbing", "sobs", "static", "unintelligible", "whispers",
    "whistles",
  ]

  /// Whether each word belongs to one, in the order of `transcript.words`. O(length of the text).
  package static func marked(in transcript: Transcript) -> [Bool] {
    transcript.segments.flatMap { marked($0.words.map(\.text)) }
  }

  private static func marked(_ words: [String]) -> [Bool] {
    var marks = words.map { _ in false }
    var index = 0
    while index < words.count {
      let count = length(of: words[index...])
      for place in index..<index + count { marks[place] = true }
      index += max(count, 1)
    }
    return marks
  }

  /// The number of words of the direction that begins here; 0 if there is none.
  private static func length(of words: ArraySlice<String>) -> Int {
    let isBracket = words.first?.hasPrefix("[") == true
    guard isBracket || words.first?.hasPrefix("(") == true else { return 0 }
    let limit = isBracket ? longestInBrackets : longestInParentheses
    let close: Character = isBracket ? "]" : ")"
    guard let end = words.prefix(limit).firstIndex(where: { $0.contains(close) }),
      let sign = words[end].firstIndex(of: close),
      // Letters after it belong to a spoken word.
      !words[end][sign...].contains(where: { $0.isLetter || $0.isNumber })
    else { return 0 }
    let inside = words[words.startIndex...end]
    return isBracket || inside.contains { sounds.contains($0.lowercased().filter(\.isLetter)) }
      ? inside.count : 0
  }
}
