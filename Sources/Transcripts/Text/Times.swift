/// What strangers' times mean.
enum Times {
  /// A beginning and an end; an end before the beginning is none. O(1).
  static func ordered(_ start: Double?, _ end: Double?) -> (start: Double?, end: Double?) {
    guard let start, let end, end < start else { return (start, end) }
    return (start, nil)
  }

  /// Gives words that were listed apart to the segments that they are spoken in: each to the last
  /// that has begun. Segments keep their text, and its words get the times. O(n).
  static func distributed(_ words: [TimedWord], among segments: [Segment]) -> [Segment] {
    guard !segments.isEmpty else { return [Segment(words: words)] }
    var parts = segments.map { _ in [TimedWord]() }
    var index = 0
    for word in words {
      if let start = word.start {
        while index + 1 < segments.count, let next = segments[index + 1].start, next <= start {
          index += 1
        }
      }
      parts[index].append(word)
    }
    return zip(segments, parts).map { segment, words in
      words.isEmpty
        ? segment
        : WovenText.segment(
          segment.text, timed: words, start: segment.start, end: segment.end,
          speaker: segment.speaker)
    }
  }
}
