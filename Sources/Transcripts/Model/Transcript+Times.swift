extension Transcript {
  /// The transcript without words and segments that have no time, for formats that have no place for
  /// them. The text of what stays is without them too. O(n) in the number of words.
  public var leavingOutUntimed: Transcript {
    var result = self
    result.segments = segments.compactMap { segment in
      let isTimed = segment.knownStart != nil || segment.knownEnd != nil
      return isTimed ? segment.keeping { $0.start != nil || $0.end != nil } : nil
    }
    return result
  }

  /// The transcript with times for every word: those without lie evenly, by their letters, between
  /// the times that are known before and behind them, of words or of segments, and are flagged as
  /// interpolated. Before the first known time is the beginning of the sound, and behind the last
  /// there is nothing: words there have no length. Without any time at all, nothing changes. O(n) in
  /// the length of the text.
  public var interpolatingUntimed: Transcript {
    var interpolation = TimeInterpolation(self)
    return interpolation.run()
  }
}

extension Segment {
  /// The segment with some of its words: the others go from its text too, with the space before
  /// them. O(n).
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
