import Transcripts

/// Whether a text of which little was heard has all that is spoken, and more besides.
struct TextFit {
  /// How many words of the text were not heard, and how many it has; nil where it does not have all
  /// that is spoken.
  let unheard: (count: Int, all: Int)?

  /// So much of the speech must have words of the text, and at most so many of the words that were heard,
  /// as a share of them, may be others.
  private static let (leastCover, mostExtra) = (0.8, 0.2)

  /// - Parameter speech: where somebody speaks, in seconds.
  init(_ outcome: AlignedChannels.Outcome, _ speech: [Range<Double>]) {
    let words = outcome.transcript.words
    let heard = words.filter {
      $0.start != nil && $0.flags.isDisjoint(with: [.interpolated, .uncertain])
    }
    let cover =
      QualityMeasure().report(
        on: Transcript(segments: [Segment(words: heard)]), speech: speech
      ).coverage ?? 0
    let hasAll =
      !heard.isEmpty && !speech.isEmpty && cover >= Self.leastCover
      && Double(outcome.extraWordCount) <= Self.mostExtra * Double(heard.count)
    let count = words.count { $0.flags.contains(.interpolated) }
    unheard = hasAll ? (count, words.count) : nil
  }
}
