import Platform

/// Properties that qualify a word's times.
package struct WordFlags: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word was not detected: its times are interpolated between its neighbours'.
  package static let interpolated = WordFlags(rawValue: 1 << 0)
  /// The sound hardly matches the word.
  package static let uncertain = WordFlags(rawValue: 1 << 1)
  /// The times come from a comparison with synthesised speech and may be off by tenths of a second.
  package static let coarse = WordFlags(rawValue: 1 << 2)
  /// The word is implausibly long.
  package static let overlong = WordFlags(rawValue: 1 << 3)
  /// The word's sound was cut, so it has no time.
  package static let removed = WordFlags(rawValue: 1 << 4)
  /// Part of the word's sound was cut.
  package static let clipped = WordFlags(rawValue: 1 << 5)
  /// The time between its neighbours is too short for the word.
  package static let cramped = WordFlags(rawValue: 1 << 6)

  private static let named: [(name: String, flag: WordFlags)] = [
    ("interpolated", .interpolated), ("uncertain", .uncertain), ("coarse", .coarse),
    ("overlong", .overlong), ("removed", .removed), ("clipped", .clipped),
    ("cramped", .cramped),
  ]

  /// The names of the set flags, as used in files.
  package var names: [String] { Self.named.filter { contains($0.flag) }.map(\.name) }

  /// Parses flag names; unknown ones are ignored.
  package init(names: [String]) {
    self = Self.named.filter { names.contains($0.name) }.reduce(into: []) { $0.insert($1.flag) }
  }
}

/// A word's flags in JSON files: a list of names, `flags`, which other programs ignore.
extension WordFlags {
  /// The flags of a word; empty without a list. O(n).
  init(of word: JSONNode) {
    self.init(names: word.member("flags")?.value.list?.compactMap(\.text) ?? [])
  }

  /// The list of names; nil if no flag is set.
  var json: JSONValue? { isEmpty ? nil : .list(names.map(JSONValue.text)) }
}

/// Lengths that no speaker gives a word.
extension TimedWord {
  /// The longest time of a letter, in seconds; of a word of one letter it is a second.
  private static let longestLetter = 0.35
  /// The longest time of a digit or a sign, which stand for words: `2025` has 25 letters in German.
  private static let longestDigit = 0.75
  /// The shortest time of a letter, in seconds.
  private static let shortestLetter = 0.015

  /// Whether it is longer than any speaker makes it.
  package var isOverlong: Bool {
    guard let start, let end else { return false }
    let longest = text.reduce(0) { sum, character in
      let standsForWords = character.isNumber || character.isSymbol || character == "%"
      return sum + (standsForWords ? Self.longestDigit : Self.longestLetter)
    }
    return end - start > max(1, longest)
  }

  /// Whether it is shorter than any speaker makes it.
  package var isCramped: Bool {
    guard let start, let end else { return false }
    return end - start < Self.shortestLetter * Double(text.count { $0.isLetter || $0.isNumber })
  }
}
