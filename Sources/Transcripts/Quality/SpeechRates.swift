/// How fast is spoken, a few words at a time.
struct SpeechRates {
  private let measure: QualityMeasure

  /// Uses the bounds of a measure.
  init(_ measure: QualityMeasure) { self.measure = measure }

  /// The rate in the middle of all, and the stretches that are out of bounds: stretches lie side by
  /// side, and those that follow each other are one. O(n log n) in the number of words.
  func outliers(
    of words: [TimedWord]
  ) -> (usual: Double?, outliers: [QualityReport.RateOutlier]) {
    let stretches = stretches(of: words)
    guard !stretches.isEmpty else { return (nil, []) }
    let usual = stretches.map(\.rate).sorted()[stretches.count / 2]
    var outliers: [QualityReport.RateOutlier] = []
    for stretch in stretches {
      let isUsual =
        stretch.rate <= usual * measure.rateFactor && stretch.rate >= usual / measure.rateFactor
      guard !measure.rates.contains(stretch.rate) || !isUsual else { continue }
      outliers.append(
        QualityReport.RateOutlier(
          firstWord: stretch.firstWord, start: stretch.start, end: stretch.end,
          charactersPerSecond: stretch.rate))
    }
    return (usual, outliers)
  }

  private struct Stretch {
    let firstWord: Int
    let start: Double
    let end: Double
    let rate: Double
  }

  private func stretches(of words: [TimedWord]) -> [Stretch] {
    let size = max(measure.rateWindow, 1)
    var stretches: [Stretch] = []
    var first = 0
    var run: [(start: Double, end: Double, count: Int)] = []
    for (index, word) in words.enumerated() {
      // Times that were never measured say nothing of a rate.
      guard let start = word.start, let end = word.end, end >= start,
        !word.flags.contains(.interpolated)
      else {
        run = []
        continue
      }
      if run.isEmpty { first = index }
      run.append((start, end, word.text.count))
      guard run.count == size else { continue }
      // Pauses are not spoken in; words of no length would be spoken infinitely fast.
      let spoken = max(run.reduce(0) { $0 + $1.end - $1.start }, 0.01)
      let characters = run.reduce(0) { $0 + $1.count }
      stretches.append(
        Stretch(
          firstWord: first, start: run[0].start, end: end, rate: Double(characters) / spoken))
      run = []
    }
    return stretches
  }
}
