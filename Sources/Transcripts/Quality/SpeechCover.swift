/// How the words of a transcript cover the speech of a recording.
struct SpeechCover {
  private let speech: [Range<Double>]
  private let words: [Range<Double>]
  /// How much speech there is, in seconds.
  let total: Double
  // How much of the speech has words.
  private let covered: Double

  /// Lays words over speech. O(n log n).
  init(speech: [Range<Double>], words: [TimedWord], bridgedGap: Double) {
    self.speech = Self.united(speech, bridging: 0)
    let times = words.compactMap { word -> Range<Double>? in
      guard let start = word.start, let end = word.end, start < end else { return nil }
      return start..<end
    }
    self.words = Self.united(times, bridging: max(bridgedGap, 0))
    total = Self.length(self.speech)
    covered = Self.length(Self.common(self.speech, self.words))
    spoken = Self.united(times, bridging: 0)
  }

  private let spoken: [Range<Double>]

  /// The share of speech that has words; nil where there is no speech.
  var coverage: Double? { total > 0 ? covered / total : nil }

  /// The share of the words' time that lies outside of speech; 0 where there is no word.
  var outsideSpeech: Double {
    let all = Self.length(spoken)
    return all > 0 ? 1 - min(Self.length(Self.common(speech, spoken)) / all, 1) : 0
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

  /// Ranges in order, those that touch or are at most `gap` apart as one; what is no number is left
  /// out.
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

  /// What two lists of ranges, each in order, have in common. O(n + m).
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
