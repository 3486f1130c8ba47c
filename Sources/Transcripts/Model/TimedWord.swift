/// A word and when it is spoken.
public struct TimedWord: Hashable, Sendable {
  /// The word as it is written, with the punctuation that touches it.
  public var text: String
  /// When it begins, in seconds; nil where no time is known.
  public var start: Double?
  /// When it ends, in seconds; nil where no time is known.
  public var end: Double?
  /// How sure its times are: 0 to 1; nil where nobody said.
  public var confidence: Double?
  /// What is to be known before its times are believed.
  public var flags: WordFlags
  /// Who says it, where that differs from its segment's speaker or the segment has none.
  public var speaker: String?

  /// A word with what is known of it.
  public init(
    _ text: String, start: Double? = nil, end: Double? = nil, confidence: Double? = nil,
    flags: WordFlags = [], speaker: String? = nil
  ) {
    self.text = text
    self.start = start
    self.end = end
    self.confidence = confidence
    self.flags = flags
    self.speaker = speaker
  }
}
