/// Finding what is said.
extension Transcript {
  /// Where a phrase is said: the times of its first and behind its last word, in seconds. Case and
  /// punctuation do not count. Places whose first or last word has no time are left out.
  ///
  /// Complexity: O(*n* × *m*) for *n* words and *m* words of the phrase.
  public func times(of phrase: String) -> [Range<Double>] {
    let words = words
    let wanted = Self.spoken(phrase)
    // A word as it is written may be several that are spoken: "twenty-one".
    let said = words.enumerated().flatMap { index, word in
      Self.spoken(word.text).map { (text: $0, index: index) }
    }
    guard !wanted.isEmpty, wanted.count <= said.count else { return [] }
    return (0...said.count - wanted.count).compactMap { start in
      let part = said[start..<start + wanted.count]
      guard part.map(\.text) == wanted, let first = part.first, let last = part.last,
        let from = words[first.index].start, let to = words[last.index].end
      else { return nil }
      return from..<max(from, to)
    }
  }

  /// The words that lie in a range of seconds, in whole or in part. O(*n*).
  public func words(in range: Range<Double>) -> [TimedWord] {
    words.filter { word in
      guard let start = word.start, let end = word.end else { return false }
      return start < range.upperBound && end > range.lowerBound
    }
  }

  /// A text's words without case and punctuation; an apostrophe does not part one.
  private static func spoken(_ text: String) -> [String] {
    text.lowercased().filter { !"'’".contains($0) }
      .split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}
