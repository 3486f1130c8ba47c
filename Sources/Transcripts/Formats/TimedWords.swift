/// Words with times that are known, for formats that have no place for others.
enum TimedWords {
  /// Every word of a transcript with when it begins and ends, and who says it. A word that has no end
  /// ends where it begins. O(n).
  /// - Throws: where a word has no time.
  static func all(
    of transcript: Transcript
  ) throws(TranscriptError) -> [(word: TimedWord, start: Double, end: Double, speaker: String?)] {
    var words: [(word: TimedWord, start: Double, end: Double, speaker: String?)] = []
    for (index, segment) in transcript.segments.enumerated() {
      for word in segment.words {
        guard let start = word.start ?? word.end else {
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
}
