/// Which heard words are which words of a text, where phrases that were heard or written twice are
/// taken from one reading each.
struct OneReading {
  /// The words of the text; those count as not spoken that are there once more than they were heard.
  let words: [SpokenWord]
  /// For each word, the numbers of its keys among all of the text.
  let keys: [Range<Int>]
  /// For each key of the text, the number of the heard word that it is.
  let heard: [Int?]
  /// The keys with which a reading begins behind another one of the same words, and where that one
  /// ends, in hundredths of a second.
  let beginnings: [Int: Int]
  /// The keys of which it cannot be told from which of two readings they are.
  let doubtful: Set<Int>

  /// How much time may pass beside the words of another reading, in hundredths of a second, and how
  /// much more for each hundredth of them: pauses, and a remark. More is speech of which the text has
  /// nothing, and what is the same at both of its ends is so by chance.
  private static let pauses = 50.0
  private static let remarks = 1.0
  /// How many words there may be beside those of another copy, for each of them.
  private static let changes = 1.0

  /// Decides for one reading of every phrase.
  ///
  /// Complexity: that of comparing the text with what was heard.
  ///
  /// - Parameters:
  ///   - words: the text.
  ///   - sounds: what was heard.
  ///   - limit: what may be of the text.
  ///   - loud: for how many of some hundredths of a second there is more than silence.
  init(
    of words: [SpokenWord], in sounds: [HeardWord], _ limit: RowLimit,
    loud: (Range<Int>) -> Int
  ) {
    let text = words.flatMap { $0.ways.first ?? [] }
    // What is not allowed stands between other words, and is none of the text.
    let allowed = sounds.map { limit.allows($0) ? $0.key : "" }
    let matching = WordMatching(text: text, heard: allowed)
    let spoken = RepeatedReadings(of: text, in: allowed, matches: matching.heard) { gap, echoes in
      let time = sounds[gap.upperBound].start - sounds[gap.lowerBound - 1].end
      let echo = echoes.reduce(0) { $0 + sounds[$1].length }
      return Double(time) / 10 - echo <= Self.pauses + Self.remarks * echo
    } isBeginning: {
      ReadingStart.isBehindPause($0, sounds)
    }
    let starts = spoken.seams.compactMap { key, echo in
      ReadingStart(at: key, behind: echo, heard: spoken.matches, sounds, loud: loud)
        .map { (key, $0) }
    }
    beginnings = Dictionary(uniqueKeysWithValues: starts.map { ($0, $1.end) })
    doubtful = spoken.doubtful.union(starts.flatMap { $1.doubtful })

    let written = RepeatedReadings(
      of: allowed, in: text, matches: Self.inverse(of: spoken.matches, count: sounds.count)
    ) { gap, echoes in
      Double(gap.count - echoes.count) <= Self.changes * Double(echoes.count)
    } isBeginning: { _ in
      true
    }
    heard = Self.inverse(of: written.matches, count: text.count)
    let keys = Self.keys(of: words)
    let copies = Self.copies(in: written)
    self.keys = keys
    self.words = zip(words, keys).map { word, keys in
      word.isSpoken && keys.allSatisfy(copies.contains) ? SpokenWord(ways: []) : word
    }
  }

  /// For each of so many, which one has its number.
  private static func inverse(of matches: [Int?], count: Int) -> [Int?] {
    var inverse: [Int?] = Array(repeating: nil, count: count)
    for (number, match) in matches.enumerated() {
      if let match { inverse[match] = number }
    }
    return inverse
  }

  /// The numbers of the keys of each word.
  private static func keys(of words: [SpokenWord]) -> [Range<Int>] {
    var end = 0
    return words.map { word in
      let start = end
      end += word.ways.first?.count ?? 0
      return start..<end
    }
  }

  /// The keys of the text that stand between two that were heard one after the other, and are there once
  /// more.
  private static func copies(in written: RepeatedReadings) -> Set<Int> {
    var copies: Set<Int> = []
    for sound in written.seams.keys {
      guard let next = written.matches[sound],
        let last = written.matches[..<sound].last(where: { $0 != nil }), let last
      else { continue }
      copies.formUnion(last + 1..<max(next, last + 1))
    }
    return copies
  }
}
