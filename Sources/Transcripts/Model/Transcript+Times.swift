extension Transcript {
  /// The number of words without a time of their own: they have none, or an interpolated one.
  /// O(words).
  package var untimedWordCount: Int {
    words.count { $0.start == nil || $0.flags.contains(.interpolated) }
  }

  /// Without segments that have neither words nor text. O(segments).
  package var leavingOutEmpty: Transcript {
    var result = self
    result.segments = segments.filter {
      !$0.words.isEmpty || !WrittenWords.trimmed($0.text).isEmpty
    }
    return result
  }

  /// With times rounded to milliseconds and confidences to thousandths, beyond which there is only
  /// noise. O(words).
  package var rounded: Transcript {
    func rounded(_ value: Double?) -> Double? { value.map { ($0 * 1000).rounded() / 1000 } }
    var result = self
    result.segments = segments.map { segment in
      var segment = segment
      (segment.start, segment.end) = (rounded(segment.start), rounded(segment.end))
      return segment
    }
    result.words = words.map { word in
      var word = word
      (word.start, word.end) = (rounded(word.start), rounded(word.end))
      word.confidence = rounded(word.confidence)
      return word
    }
    return result
  }

  /// With times for every word: untimed words are distributed evenly, by letters, between the
  /// nearest known times of words or segments, and flagged as interpolated. The interval before the
  /// first known time begins with the sound; words behind the last known time get no length.
  /// Unchanged if no time is known. O(length of the text).
  package var interpolatingUntimed: Transcript {
    var interpolation = TimeInterpolation(self)
    return interpolation.run()
  }
}

extension Segment {
  /// The segment with a subset of its words; the others are removed from its text, with the space
  /// before them. O(n).
  func keeping(_ isKept: (TimedWord) -> Bool) -> Segment {
    guard !words.allSatisfy(isKept) else { return self }
    let bytes = Array(text.utf8)
    var kept: [UInt8] = []
    var cursor = 0
    for (word, place) in zip(words, WordPlaces.find(words.map(\.text), in: bytes)) {
      guard let place else { continue }
      if isKept(word) {
        kept += bytes[cursor..<place.upperBound]
      }
      cursor = place.upperBound
    }
    kept += bytes[cursor...]
    var result = self
    result.text = WrittenWords.trimmed(String(decoding: kept, as: UTF8.self))
    result.words = words.filter(isKept)
    return result
  }
}

/// Distributes the time between known times among untimed words.
struct TimeInterpolation {
  private(set) var transcript: Transcript
  // The words since the last known time.
  private var waiting: [(segment: Int, word: Int)] = []
  private var last: Double?

  init(_ transcript: Transcript) { self.transcript = transcript }

  /// The transcript with times. O(length of the text).
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

  /// Distributes the waiting words up to a known time.
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
