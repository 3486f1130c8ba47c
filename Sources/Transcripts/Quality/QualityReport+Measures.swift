extension QualityReport {
  /// Words with a lower confidence, 0…1, count as low.
  private static let lowConfidence = 0.5

  /// Measures a transcript.
  ///
  /// Complexity: O(*w* log *w* + *s* log *s*) for *w* words and *s* stretches of speech.
  ///
  /// - Parameter speech: the stretches of speech, in seconds, in any order and possibly overlapping;
  ///   nil if unknown.
  package init(on transcript: Transcript, speech: [Range<Double>]? = nil) {
    let words = transcript.words
    wordCount = words.count
    if !words.isEmpty {
      func share(_ isCounted: (TimedWord) -> Bool) -> Double {
        Double(words.count(where: isCounted)) / Double(words.count)
      }
      func hasTime(_ word: TimedWord) -> Bool { word.start != nil && word.end != nil }
      timed = share { hasTime($0) && !$0.flags.contains(.interpolated) }
      interpolated = share { hasTime($0) && $0.flags.contains(.interpolated) }
      untimed = share { !hasTime($0) }
      lowConfidence = share { word in
        word.flags.contains(.uncertain) || word.confidence.map { $0 < Self.lowConfidence } ?? false
      }
    }
    longestWord = Self.longestWord(of: words)
    (usualRate, rateOutliers) = Self.findRateOutliers(in: words)
    loops = Self.findLoops(in: words)
    if let speech {
      let cover = SpeechCover(speech: speech, words: words)
      self.speech = cover.total
      coverage = cover.coverage
      outsideSpeech = cover.outsideSpeech
      longestUntranscribed = cover.longestUntranscribed
    }
  }

  private static func longestWord(of words: [TimedWord]) -> Word? {
    var longest: Word?
    for word in words {
      guard let start = word.start, let end = word.end, end - start > 0 else { continue }
      if longest.map({ end - start > $0.end - $0.start }) ?? true {
        longest = Word(text: word.text, start: start, end: end)
      }
    }
    return longest
  }
}

/// Finds phrases repeated in succession.
extension QualityReport {
  /// The longest phrase of a loop, in words.
  private static let longestLoop = 16

  /// The least number of repetitions of a phrase of `length` words: "no, no, no" is normal speech.
  private static func enough(_ length: Int) -> Int {
    switch length {
    case 1: 6
    case 2: 4
    default: 3
    }
  }

  /// The loops in order, ignoring case and punctuation; each by its
  /// shortest phrase. O(n).
  private static func findLoops(in words: [TimedWord]) -> [Loop] {
    let keys = numbered(words)
    var found: [(range: Range<Int>, length: Int, count: Int)] = []
    // The end of the loop of a shorter phrase that each word is in.
    var loopEnd = Array(repeating: 0, count: keys.count)
    for length in 1...longestLoop where length < keys.count {
      var start = 0
      while start + length < keys.count {
        var end = start
        while end + length < keys.count, keys[end] == keys[end + length] { end += 1 }
        let range = start..<end + length
        let count = range.count / length
        if count >= enough(length), loopEnd[start] < range.upperBound {
          found.append((range, length, count))
          for index in range { loopEnd[index] = max(loopEnd[index], range.upperBound) }
        }
        start = end + 1
      }
    }
    return found.sorted { $0.range.lowerBound < $1.range.lowerBound }.map { range, length, count in
      let phrase = words[range.prefix(length)].map(\.text).joined(separator: " ")
      return Loop(
        phrase: phrase, count: count, firstWord: range.lowerBound,
        start: words[range.lowerBound].start)
    }
  }

  /// A number for each word, equal for words that are spoken alike.
  private static func numbered(_ words: [TimedWord]) -> [Int] {
    var numbers: [String: Int] = [:]
    return words.map { word in
      let letters = word.text.lowercased().filter { $0.isLetter || $0.isNumber }
      let key = letters.isEmpty ? word.text : letters
      let number = numbers[key] ?? numbers.count
      numbers[key] = number
      return number
    }
  }
}

/// Speech rates over a few words at a time.
extension QualityReport {
  /// The number of consecutive words for a speech rate.
  private static let rateWindow = 8
  /// The plausible speech rates, in characters a second; usual are 8 to 20.
  private static let plausibleRates = 3.0...35.0
  /// The factor from the median beyond which a rate is an outlier.
  private static let rateFactor = 2.5

  /// The median rate, and the outlying stretches, merged where adjacent. O(n log n) in the number
  /// of words.
  private static func findRateOutliers(
    in words: [TimedWord]
  ) -> (usual: Double?, outliers: [RateOutlier]) {
    let stretches = stretches(of: words)
    guard !stretches.isEmpty else { return (nil, []) }
    let usual = stretches.map(\.charactersPerSecond).sorted()[stretches.count / 2]
    let outliers = stretches.filter { stretch in
      let rate = stretch.charactersPerSecond
      let isUsual = rate <= usual * rateFactor && rate >= usual / rateFactor
      return !plausibleRates.contains(rate) || !isUsual
    }
    return (usual, outliers)
  }

  private static func stretches(of words: [TimedWord]) -> [RateOutlier] {
    var stretches: [RateOutlier] = []
    var first = 0
    var run: [(start: Double, end: Double, count: Int)] = []
    for (index, word) in words.enumerated() {
      // Interpolated times carry no rate.
      guard let start = word.start, let end = word.end, end >= start,
        !word.flags.contains(.interpolated)
      else {
        run = []
        continue
      }
      if run.isEmpty { first = index }
      run.append((start, end, word.text.count))
      guard run.count == rateWindow else { continue }
      // Pauses do not count; zero-length words would give an infinite rate.
      let spoken = max(run.reduce(0) { $0 + $1.end - $1.start }, 0.01)
      let characters = run.reduce(0) { $0 + $1.count }
      stretches.append(
        RateOutlier(
          firstWord: first, start: run[0].start, end: end,
          charactersPerSecond: Double(characters) / spoken))
      run = []
    }
    return stretches
  }
}

/// The overlap of a transcript's words and a recording's speech.
private struct SpeechCover {
  /// Gaps between words up to this, in seconds, count as covered speech.
  private static let bridgedGap = 0.3

  private let speech: [Range<Double>]
  private let words: [Range<Double>]
  /// The duration of all speech, in seconds.
  let total: Double
  /// The share of speech with words; nil without speech.
  let coverage: Double?
  /// The share of the words' time outside of speech; 0 without words.
  let outsideSpeech: Double

  /// O(n log n).
  init(speech: [Range<Double>], words: [TimedWord]) {
    self.speech = Self.united(speech, bridging: 0)
    let times = words.compactMap { word -> Range<Double>? in
      guard let start = word.start, let end = word.end, start < end else { return nil }
      return start..<end
    }
    self.words = Self.united(times, bridging: Self.bridgedGap)
    total = Self.length(self.speech)
    coverage = total > 0 ? Self.length(Self.common(self.speech, self.words)) / total : nil
    let spoken = Self.united(times, bridging: 0)
    let all = Self.length(spoken)
    outsideSpeech = all > 0 ? 1 - min(Self.length(Self.common(self.speech, spoken)) / all, 1) : 0
  }

  /// The gap between words with the most speech in it.
  var longestUntranscribed: QualityReport.Stretch? {
    guard let end = speech.last?.upperBound else { return nil }
    var gaps: [Range<Double>] = []
    var last = 0.0
    for word in words {
      if word.lowerBound > last { gaps.append(last..<word.lowerBound) }
      last = max(last, word.upperBound)
    }
    if end > last { gaps.append(last..<end) }
    var longest: QualityReport.Stretch?
    var index = 0
    for gap in gaps {
      while index < speech.count, speech[index].upperBound <= gap.lowerBound { index += 1 }
      let parts = speech[index...].prefix { $0.lowerBound < gap.upperBound }
        .map { $0.clamped(to: gap) }
      guard let from = parts.first?.lowerBound, let to = parts.last?.upperBound else { continue }
      let length = Self.length(parts)
      if length > longest?.speech ?? 0 {
        longest = QualityReport.Stretch(from: from, to: to, speech: length)
      }
    }
    return longest
  }

  /// Sorted ranges, merged if they touch or are at most `gap` apart; NaN is dropped.
  private static func united(_ ranges: [Range<Double>], bridging gap: Double) -> [Range<Double>] {
    var result: [Range<Double>] = []
    let sound = ranges.filter { $0.lowerBound.isFinite && $0.upperBound.isFinite && !$0.isEmpty }
    for range in sound.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = result.last, range.lowerBound <= last.upperBound + gap {
        result[result.count - 1] =
          last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
      } else {
        result.append(range)
      }
    }
    return result
  }

  /// The intersection of two sorted lists of ranges. O(n + m).
  private static func common(_ one: [Range<Double>], _ other: [Range<Double>]) -> [Range<Double>] {
    var result: [Range<Double>] = []
    var (first, second) = (0, 0)
    while first < one.count, second < other.count {
      let part = one[first].clamped(to: other[second])
      if !part.isEmpty { result.append(part) }
      if one[first].upperBound < other[second].upperBound { first += 1 } else { second += 1 }
    }
    return result
  }

  private static func length(_ ranges: [Range<Double>]) -> Double {
    ranges.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
  }
}
