import Platform

/// Known times, for formats that require them.
extension Transcript {
  /// Every word with its start, end and speaker. A missing end equals the start. O(n).
  /// - Throws: if a word has no time.
  func timedWords(
    for format: String
  ) throws(SpoolError) -> [(word: TimedWord, start: Double, end: Double, speaker: String?)] {
    var timed: [(word: TimedWord, start: Double, end: Double, speaker: String?)] = []
    for (index, segment) in segments.enumerated() {
      for word in segment.words {
        guard let start = word.start ?? word.end else {
          throw noTime(
            for: format,
            "segment \(index + 1) has a word without a time: \"\(PrintableText.shown(word.text))\"")
        }
        timed.append((word, start, max(start, word.end ?? start), word.speaker ?? segment.speaker))
      }
    }
    return timed
  }

  /// The segments with their times. A missing end is the next segment's start, or the last one's own.
  /// O(words).
  /// - Throws: if a segment has text and no time.
  func timedSegments(
    for format: String
  ) throws(SpoolError) -> [(segment: Segment, start: Double, end: Double)] {
    var timed: [(segment: Segment, start: Double, end: Double)] = []
    var next: Double?
    for index in segments.indices.reversed() {
      let segment = segments[index]
      guard let start = segment.knownStart ?? segment.knownEnd else {
        let text = PrintableText.shown(WrittenWords.onOneLine(segment.text))
        throw noTime(for: format, "segment \(index + 1), \"\(text)\", has no time")
      }
      timed.append((segment, start, max(start, segment.knownEnd ?? next ?? start)))
      next = start
    }
    return timed.reversed()
  }

  /// That a part has no time, or nothing has.
  private func noTime(for format: String, _ reason: String) -> SpoolError {
    segments.contains { $0.knownStart != nil || $0.knownEnd != nil }
      ? .writing(format, reason, advice: "align it, or leave out what has no time")
      : .writing(
        format, "nothing in it has a time",
        advice: "align it with its recording first, or write a format without times, such as text")
  }
}

extension SpoolError {
  /// A transcript that a format cannot hold.
  static func writing(_ format: String, _ reason: String, advice: String? = nil) -> SpoolError {
    SpoolError("cannot write the transcript as \(format)", reason: reason, advice: advice)
  }
}
