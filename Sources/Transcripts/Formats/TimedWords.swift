/// Words with known times, for formats that require them.
enum TimedWords {
  /// Every word with its start, end and speaker. A missing end equals the start. O(n).
  /// - Throws: if a word has no time.
  static func all(
    of transcript: Transcript
  ) throws(TranscriptError) -> [(word: TimedWord, start: Double, end: Double, speaker: String?)] {
    var words: [(word: TimedWord, start: Double, end: Double, speaker: String?)] = []
    for (index, segment) in transcript.segments.enumerated() {
      for word in segment.words {
        guard let start = word.start ?? word.end else {
          guard transcript.hasTimes else { throw noTimes }
          throw TranscriptError(
            .writing,
            "segment \(index + 1) has a word without a time: \"\(PrintableText.shown(word.text))\"",
            advice: "align it, or leave out what has no time")
        }
        words.append((word, start, max(start, word.end ?? start), word.speaker ?? segment.speaker))
      }
    }
    return words
  }

  static let noTimes = TranscriptError(
    .writing, "nothing in it has a time",
    advice: "align it with its recording first, or write a format without times, such as text")
}

extension Transcript {
  /// Whether anything in it has a time. O(words).
  var hasTimes: Bool { segments.contains { $0.knownStart != nil || $0.knownEnd != nil } }
}

/// A segment with known times, for formats that require them.
struct TimedSegment {
  let segment: Segment
  /// In seconds.
  let start: Double
  let end: Double

  /// The segments of a transcript with their times. A missing end is the next segment's start, or
  /// the last one's own. O(words).
  /// - Throws: if a segment has text and no time.
  static func all(of transcript: Transcript) throws(TranscriptError) -> [TimedSegment] {
    var timed: [TimedSegment] = []
    var next: Double?
    for index in transcript.segments.indices.reversed() {
      let segment = transcript.segments[index]
      guard let start = segment.knownStart ?? segment.knownEnd else {
        guard transcript.hasTimes else { throw TimedWords.noTimes }
        let text = PrintableText.shown(WrittenWords.onOneLine(segment.text))
        throw TranscriptError(
          .writing, "segment \(index + 1), \"\(text)\", has no time",
          advice: "align it, or leave out what has no time")
      }
      let end = segment.knownEnd ?? next ?? start
      timed.append(TimedSegment(segment: segment, start: start, end: max(start, end)))
      next = start
    }
    return timed.reversed()
  }
}
