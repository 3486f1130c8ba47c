extension Transcript {
  /// The transcript without segments that have neither words nor text. O(n) in the number of
  /// segments.
  public var leavingOutEmpty: Transcript {
    var result = self
    result.segments = segments.filter {
      !$0.words.isEmpty || !WrittenWords.trimmed($0.text).isEmpty
    }
    return result
  }

  /// The transcript with times in whole milliseconds and confidences in whole thousandths: what is
  /// behind them is noise. O(n) in the number of words.
  public var rounded: Transcript {
    func rounded(_ value: Double?) -> Double? { value.map { ($0 * 1000).rounded() / 1000 } }
    var result = self
    for index in segments.indices {
      let segment = segments[index]
      (result.segments[index].start, result.segments[index].end) =
        (rounded(segment.start), rounded(segment.end))
      for word in segment.words.indices {
        result.segments[index].words[word].start = rounded(segment.words[word].start)
        result.segments[index].words[word].end = rounded(segment.words[word].end)
        result.segments[index].words[word].confidence = rounded(segment.words[word].confidence)
      }
    }
    return result
  }

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
