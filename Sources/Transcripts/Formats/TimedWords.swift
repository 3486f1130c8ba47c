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

  /// Why a transcript without any times is not written.
  static let noTimes = TranscriptError(
    .writing, "nothing in it has a time",
    advice: "align it with its recording first, or write a format without times, such as text")
}

extension Transcript {
  /// Whether anything in it has a time. O(n) in the number of words.
  var hasTimes: Bool { segments.contains { $0.knownStart != nil || $0.knownEnd != nil } }
}
