/// A segment with times that are known, for formats that have no place for others.
struct TimedSegment {
  /// What is said.
  let segment: Segment
  /// When it begins, in seconds.
  let start: Double
  /// When it ends, in seconds; not before it begins.
  let end: Double

  /// The segments of a transcript with their times. One that has no end ends where the next begins;
  /// the last one, where it begins. O(n) in the number of words.
  /// - Throws: where a segment has text and no time.
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
