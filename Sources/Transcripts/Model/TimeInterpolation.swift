/// Gives words without times their shares of the time between what is known.
struct TimeInterpolation {
  private var transcript: Transcript
  // The words since the last known time.
  private var waiting: [(segment: Int, word: Int)] = []
  private var last: Double?

  /// Starts at the beginning of a transcript.
  init(_ transcript: Transcript) { self.transcript = transcript }

  /// The transcript with times. O(n) in the length of the text.
  mutating func run() -> Transcript {
    for (number, segment) in transcript.segments.enumerated() {
      reach(segment.start)
      for (index, word) in segment.words.enumerated() {
        reach(word.start)
        guard word.start == nil || word.end == nil else {
          last = word.end
          continue
        }
        waiting.append((number, index))
        reach(word.end)
      }
      reach(segment.end)
    }
    if let last { reach(last) }
    return transcript
  }

  /// Spreads what waits up to a known time.
  private mutating func reach(_ time: Double?) {
    guard let time else { return }
    defer {
      waiting = []
      last = time
    }
    guard !waiting.isEmpty else { return }
    let start = min(last ?? 0, time)
    let lengths = waiting.map { place in
      Double(transcript.segments[place.segment].words[place.word].text.count + 1)
    }
    let total = lengths.reduce(0, +)
    var done = 0.0
    for (place, length) in zip(waiting, lengths) {
      var word = transcript.segments[place.segment].words[place.word]
      word.start = word.start ?? start + (time - start) * done / total
      done += length
      word.end = word.end ?? (done < total ? start + (time - start) * done / total : time)
      word.flags.insert(.interpolated)
      transcript.segments[place.segment].words[place.word] = word
    }
  }
}
