/// What a transcript must keep to; a limit that is nil is none.
public struct QualityLimits: Hashable, Sendable {
  /// At least this share of words has times of their own: 0 to 1.
  public var timed: Double?
  /// At most this share of words is interpolated: 0 to 1.
  public var interpolated: Double?
  /// At most this share of words is hardly believed: 0 to 1.
  public var lowConfidence: Double?
  /// No word is longer, in seconds.
  public var longestWord: Double?
  /// At most so many stretches are spoken too fast or too slowly.
  public var rateOutliers: Int?
  /// At most so many phrases are repeated in circles.
  public var loops: Int?
  /// At least this share of speech has words: 0 to 1. Where there is no speech, or nobody said where it
  /// is, it is not kept to.
  public var coverage: Double?
  /// At most this share of words' time lies outside of speech: 0 to 1.
  public var outsideSpeech: Double?
  /// Nowhere is more speech without words, in seconds.
  public var untranscribed: Double?

  /// Limits by their names; none where none is given.
  public init(
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

  /// Every limit that a report does not keep to, in the order above. A figure that is not known keeps
  /// to no limit: what was not measured was not asserted. O(1).
  public func breaches(of report: QualityReport) -> [QualityBreach] {
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
