/// Quality limits for a transcript; nil means no limit.
package struct QualityLimits: Hashable, Sendable {
  /// The least share of words with times of their own: 0…1.
  package var timed: Double?
  /// The greatest share of interpolated words: 0…1.
  package var interpolated: Double?
  /// The greatest share of words with low confidence: 0…1.
  package var lowConfidence: Double?
  /// The greatest word length, in seconds.
  package var longestWord: Double?
  /// The greatest number of stretches spoken too fast or too slowly.
  package var rateOutliers: Int?
  /// The greatest number of repetition loops.
  package var loops: Int?
  /// The least share of speech covered by words: 0…1. Not checked without speech, or if speech is
  /// not known.
  package var coverage: Double?
  /// The greatest share of the words' time outside of speech: 0…1.
  package var outsideSpeech: Double?
  /// The longest stretch of speech without words, in seconds.
  package var untranscribed: Double?

  package init(
    timed: Double? = nil, interpolated: Double? = nil, lowConfidence: Double? = nil,
    longestWord: Double? = nil, rateOutliers: Int? = nil, loops: Int? = nil,
    coverage: Double? = nil, outsideSpeech: Double? = nil, untranscribed: Double? = nil
  ) {
    self.timed = timed
    self.interpolated = interpolated
    self.lowConfidence = lowConfidence
    self.longestWord = longestWord
    self.rateOutliers = rateOutliers
    self.loops = loops
    self.coverage = coverage
    self.outsideSpeech = outsideSpeech
    self.untranscribed = untranscribed
  }

  /// All violated limits, in the order above. Unknown figures violate none. O(1).
  package func breaches(of report: QualityReport) -> [QualityBreach] {
    let longest = report.longestWord.map { $0.end - $0.start } ?? 0
    let silent =
      report.speech == nil ? nil : report.longestUntranscribed.map(\.speech) ?? 0
    let all: [(limit: Double?, bound: QualityBreach.Bound, name: String, figure: Double?)] = [
      (timed, .least, "timed", report.timed),
      (interpolated, .most, "interpolated", report.interpolated),
      (lowConfidence, .most, "low-confidence", report.lowConfidence),
      (longestWord, .most, "longest-word", longest),
      (rateOutliers.map(Double.init), .most, "rate-outliers", Double(report.rateOutliers.count)),
      (loops.map(Double.init), .most, "loops", Double(report.loops.count)),
      (coverage, .least, "coverage", report.coverage),
      (outsideSpeech, .most, "outside-speech", report.outsideSpeech),
      (untranscribed, .most, "untranscribed", silent),
    ]
    return all.compactMap { limit, bound, name, figure in
      guard let limit else { return nil }
      let breach = QualityBreach(name: name, figure: figure, bound: bound, limit: limit)
      return breach.isKept ? nil : breach
    }
  }
}
