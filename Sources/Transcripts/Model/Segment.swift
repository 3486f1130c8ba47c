/// A stretch of a transcript: a paragraph, a subtitle, what somebody says at once.
public struct Segment: Hashable, Sendable {
  /// What is said, as it was written; it may have several lines.
  public var text: String
  /// Its words, in order. Each stands in the text, after the one before.
  public var words: [TimedWord]
  /// When it begins, in seconds; nil where no time is known.
  public var start: Double?
  /// When it ends, in seconds; nil where no time is known.
  public var end: Double?
  /// Who says it; nil where nobody said.
  public var speaker: String?

  /// A stretch of speech.
  public init(
    text: String, words: [TimedWord], start: Double? = nil, end: Double? = nil,
    speaker: String? = nil
  ) {
    self.text = text
    self.words = words
    self.start = start
    self.end = end
    self.speaker = speaker
  }

  /// A stretch whose words are what white space parts, without times of their own. O(n) in the
  /// text's length.
  public init(text: String, start: Double? = nil, end: Double? = nil, speaker: String? = nil) {
    self.init(
      text: text, words: WrittenWords.split(text).map { TimedWord($0) }, start: start, end: end,
      speaker: speaker)
  }

  /// A stretch that is known by its words alone: its text is theirs, with spaces between.
  public init(words: [TimedWord], start: Double? = nil, end: Double? = nil, speaker: String? = nil)
  {
    self.init(
      text: WrittenWords.joined(words.map(\.text)), words: words, start: start, end: end,
      speaker: speaker)
  }
}

extension Segment {
  /// When it begins as far as is known: by its own time, or by its first word that has one. O(n) in
  /// the number of words.
  public var knownStart: Double? { start ?? words.lazy.compactMap(\.start).min() }

  /// When it ends as far as is known: by its own time, or by its last word that has one. O(n) in
  /// the number of words.
  public var knownEnd: Double? { end ?? words.lazy.compactMap(\.end).max() }
}
