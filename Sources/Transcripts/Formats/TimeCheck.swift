/// What every writer relies on: times and confidences are numbers that can be written.
enum TimeCheck {
  /// Refuses times that are no numbers, negative or beyond all measure, and confidences that are no
  /// shares. O(n) in the number of words.
  static func check(_ transcript: Transcript) throws(TranscriptError) {
    for (index, segment) in transcript.segments.enumerated() {
      let place = "segment \(index + 1)"
      try check(segment.start, place)
      try check(segment.end, place)
      for (number, word) in segment.words.enumerated() {
        try check(word.start, "\(place), word \(number + 1)")
        try check(word.end, "\(place), word \(number + 1)")
        guard let confidence = word.confidence else { continue }
        guard confidence >= 0, confidence <= 1 else {
          throw TranscriptError(
            .writing, "\(place), word \(number + 1) has the confidence \(confidence): 0 to 1 are")
        }
      }
    }
  }

  private static func check(_ time: Double?, _ place: @autoclosure () -> String)
    throws(TranscriptError)
  {
    guard let time else { return }
    guard time >= 0, time <= ByteScanner.longestTime else {
      throw TranscriptError(
        .writing, "\(place()) has the time \(time), which is none of a recording")
    }
  }
}
