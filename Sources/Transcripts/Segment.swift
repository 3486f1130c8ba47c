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

  /// A stretch whose words are what white space parts, without times of their own.
  public init(text: String, start: Double? = nil, end: Double? = nil, speaker: String? = nil) {
    self.init(
      text: text, words: text.split(whereSeparator: \.isWhitespace).map { TimedWord(String($0)) },
      start: start, end: end, speaker: speaker)
  }
}
