/// What counts as suspicious in a transcript.
public struct QualityMeasure: Hashable, Sendable {
  /// A word with a lower confidence, 0 to 1, is hardly believed.
  public var lowConfidence: Double
  /// How many words in succession are looked at for the rate of speech.
  public var rateWindow: Int
  /// The rates at which people speak, in characters a second.
  public var rates: ClosedRange<Double>
  /// How many times faster or slower than usual is too much.
  public var rateFactor: Double
  /// How many words a phrase has at most that is looked for as a loop.
  public var longestLoop: Int
  /// A gap between words up to this, in seconds, is part of speech, and covered.
  public var bridgedGap: Double

  /// Choices that suit speech; people speak 8 to 20 characters a second.
  public init(
    lowConfidence: Double = 0.5, rateWindow: Int = 8, rates: ClosedRange<Double> = 3...35,
    rateFactor: Double = 2.5, longestLoop: Int = 16, bridgedGap: Double = 0.3
  ) {
    self.lowConfidence = lowConfidence
    self.rateWindow = rateWindow
    self.rates = rates
    self.rateFactor = rateFactor
    self.longestLoop = longestLoop
    self.bridgedGap = bridgedGap
  }

  /// The report on a transcript.
  ///
  /// Complexity: O(*w* · `longestLoop` + *w* log *w* + *s* log *s*) for *w* words and *s* stretches of
  /// speech.
  ///
  /// - Parameters:
  ///   - transcript: what is looked at.
  ///   - speech: where somebody speaks, in seconds; nil where that is not known. Stretches may be in
  ///     any order and may overlap.
  public func report(on transcript: Transcript, speech: [Range<Double>]? = nil) -> QualityReport {
    let words = transcript.words
    var report = QualityReport()
    report.wordCount = words.count
    if !words.isEmpty {
      func share(_ isCounted: (TimedWord) -> Bool) -> Double {
        Double(words.count(where: isCounted)) / Double(words.count)
      }
      func hasTime(_ word: TimedWord) -> Bool { word.start != nil && word.end != nil }
      report.timed = share { hasTime($0) && !$0.flags.contains(.interpolated) }
      report.interpolated = share { hasTime($0) && $0.flags.contains(.interpolated) }
      report.untimed = share { !hasTime($0) }
      report.lowConfidence = share { word in
        word.flags.contains(.uncertain) || word.confidence.map { $0 < lowConfidence } ?? false
      }
    }
    report.longestWord = longestWord(of: words)
    (report.usualRate, report.rateOutliers) = SpeechRates(self).outliers(of: words)
    report.loops = RepeatedPhrases.loops(in: words, longest: longestLoop)
    if let speech {
      let cover = SpeechCover(speech: speech, words: words, bridgedGap: bridgedGap)
      report.speech = cover.total
      report.coverage = cover.coverage
      report.outsideSpeech = cover.outsideSpeech
      report.longestUntranscribed = cover.longestUntranscribed
    }
    return report
  }

  private func longestWord(of words: [TimedWord]) -> QualityReport.Word? {
    var longest: QualityReport.Word?
    for word in words {
      guard let start = word.start, let end = word.end, end - start > 0 else { continue }
      if longest.map({ end - start > $0.end - $0.start }) ?? true {
        longest = QualityReport.Word(text: word.text, start: start, end: end)
      }
    }
    return longest
  }
}
