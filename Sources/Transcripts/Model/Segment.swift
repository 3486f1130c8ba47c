/// A part of a transcript: a paragraph, a subtitle or an utterance.
package struct Segment: Hashable, Sendable {
  /// The text as written; it may have several lines.
  package var text: String
  /// Its words, in text order.
  package var words: [TimedWord]
  /// In seconds; nil if unknown.
  package var start: Double?
  /// In seconds; nil if unknown.
  package var end: Double?
  /// Nil if unknown.
  package var speaker: String?

  package init(
    text: String, words: [TimedWord], start: Double? = nil, end: Double? = nil,
    speaker: String? = nil
  ) {
    self.text = text
    self.words = words
    self.start = start
    self.end = end
    self.speaker = speaker
  }

  /// A segment of untimed words separated by white space. O(n) in the text's length.
  package init(text: String, start: Double? = nil, end: Double? = nil, speaker: String? = nil) {
    self.init(
      text: text, words: WrittenWords.split(text).map { TimedWord($0) }, start: start, end: end,
      speaker: speaker)
  }

  /// A segment built from words: its text is theirs, joined with spaces.
  package init(words: [TimedWord], start: Double? = nil, end: Double? = nil, speaker: String? = nil)
  {
    self.init(
      text: WrittenWords.joined(words.map(\.text)), words: words, start: start, end: end,
      speaker: speaker)
  }

  /// Its own start time, or that of its first timed word. O(words).
  package var knownStart: Double? { start ?? words.lazy.compactMap(\.start).min() }

  /// Its own end time, or that of its last timed word. O(words).
  package var knownEnd: Double? { end ?? words.lazy.compactMap(\.end).max() }
}

/// A word of a transcript with its times: the stored form, used from text to subtitles.
package struct TimedWord: Hashable, Sendable {
  /// As written, with adjacent punctuation.
  package var text: String
  package var start: Double?
  /// When it ends, in seconds; nil where no time is known.
  package var end: Double?
  /// The confidence of the times, 0…1; nil if unknown.
  package var confidence: Double?
  /// Properties that qualify the times.
  package var flags: WordFlags
  /// The speaker, if different from the segment's.
  package var speaker: String?

  package init(
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
