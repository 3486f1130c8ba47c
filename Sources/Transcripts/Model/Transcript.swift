/// The words spoken in a recording, with their times as far as known.
///
/// It is a list of segments, such as a paragraph of a text, a subtitle, or an utterance of a
/// recogniser. Segments hold the original text completely, and each word occurs in it, in order.
package struct Transcript: Hashable, Sendable {
  /// A BCP 47 tag: `en`, `en-GB`; nil if unknown.
  package var language: String?
  /// Whether the transcript is complete: false for a live draft.
  package var isFinal: Bool
  /// In order.
  package var segments: [Segment]

  package init(language: String? = nil, isFinal: Bool = true, segments: [Segment] = []) {
    self.language = language
    self.isFinal = isFinal
    self.segments = segments
  }

  /// Every word in order. A word's index in it is its identity in all that is found out about the
  /// text: how it is spoken, and where. Set, it replaces the words of the segments by as many others.
  ///
  /// Complexity: O(*n*) in the number of words.
  package var words: [TimedWord] {
    get { segments.flatMap(\.words) }
    set {
      var rest = newValue[...]
      for index in segments.indices {
        let own = rest.prefix(segments[index].words.count)
        segments[index].words = Array(own)
        rest = rest[own.endIndex...]
      }
    }
  }

  /// The original text; segments are separated by an empty line.
  package var text: String { segments.map(\.text).joined(separator: "\n\n") }
}

/// Search.
extension Transcript {
  /// The occurrences of a phrase: the start of its first and the end of its last word, in seconds.
  /// Case and punctuation are ignored; occurrences without these times are skipped.
  ///
  /// Complexity: O(*n* × *m*) for *n* words and *m* words of the phrase.
  package func times(of phrase: String) -> [Range<Double>] {
    let words = words
    let wanted = Self.spoken(phrase)
    // A written word may be several spoken ones: "twenty-one".
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

  /// The words that overlap a range of seconds. O(*n*).
  package func words(in range: Range<Double>) -> [TimedWord] {
    words.filter { word in
      guard let start = word.start, let end = word.end else { return false }
      return start < range.upperBound && end > range.lowerBound
    }
  }

  /// A text's words without case and punctuation; apostrophes do not split words.
  private static func spoken(_ text: String) -> [String] {
    text.lowercased().filter { !"'’".contains($0) }
      .split { !$0.isLetter && !$0.isNumber }.map(String.init)
  }
}
