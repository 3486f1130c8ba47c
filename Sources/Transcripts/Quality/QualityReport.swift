package import Platform

/// Quality figures of a transcript that need no listening.
package struct QualityReport: Hashable, Sendable {
  /// A word and when it is spoken.
  package struct Word: Hashable, Sendable {
    package let text: String
    package let start: Double
    package let end: Double
  }

  /// A stretch spoken faster or slower than plausible, or than the rest.
  package struct RateOutlier: Hashable, Sendable {
    /// The index of its first word in the transcript.
    package let firstWord: Int
    package let start: Double
    package let end: Double
    /// Letters, digits and signs per second of speech, pauses excluded.
    package let charactersPerSecond: Double
  }

  /// A repeated phrase, as in loops of recognisers.
  package struct Loop: Hashable, Sendable {
    package let phrase: String
    /// The number of repetitions.
    package let count: Int
    /// The index of its first word in the transcript.
    package let firstWord: Int
    /// In seconds; nil if the word has no time.
    package let start: Double?
  }

  /// A stretch of time, in seconds.
  package struct Stretch: Hashable, Sendable {
    package let from: Double
    package let to: Double
    /// The duration of speech in it.
    package let speech: Double
  }

  package internal(set) var wordCount = 0
  /// The share of words with start and end times of their own: 0…1; 1 without words. `timed`,
  /// `interpolated` and `untimed` add up to 1.
  package internal(set) var timed = 1.0
  /// The share of words with interpolated times: 0…1.
  package internal(set) var interpolated = 0.0
  /// The share of words without a start or an end: 0…1.
  package internal(set) var untimed = 0.0
  /// The share of words with low confidence or the flag `uncertain`: 0…1.
  package internal(set) var lowConfidence = 0.0
  /// The longest word by its times; nil if none has any.
  package internal(set) var longestWord: Word?
  /// The median speech rate, in characters a second; nil if unknown.
  package internal(set) var usualRate: Double?
  /// The stretches with outlying rates, in order.
  package internal(set) var rateOutliers: [RateOutlier] = []
  /// The loops, in order.
  package internal(set) var loops: [Loop] = []
  /// The duration of speech, in seconds; nil if unknown.
  package internal(set) var speech: Double?
  /// The share of speech with words: 0…1; nil without speech, or if it is unknown.
  package internal(set) var coverage: Double?
  /// The share of the words' time outside of speech; nil if speech is unknown.
  package internal(set) var outsideSpeech: Double?
  /// The gap between two words with the most speech; nil if speech is unknown or fully covered.
  package internal(set) var longestUntranscribed: Stretch?

  /// The report as JSON: shares of 0…1, times in seconds. O(n).
  package var json: JSONValue {
    .object(leavingOut: [
      "words": .integer(wordCount), "timed": .decimal(timed),
      "interpolated": .decimal(interpolated), "untimed": .decimal(untimed),
      "lowConfidence": .decimal(lowConfidence),
      "longestWord": longestWord.map { word in
        .object([
          "text": .text(word.text), "startTime": .decimal(word.start),
          "endTime": .decimal(word.end),
        ])
      },
      "charactersPerSecond": usualRate.map(JSONValue.decimal),
      "rateOutliers": .list(
        rateOutliers.map { outlier in
          .object([
            "firstWord": .integer(outlier.firstWord), "startTime": .decimal(outlier.start),
            "endTime": .decimal(outlier.end),
            "charactersPerSecond": .decimal(outlier.charactersPerSecond),
          ])
        }),
      "loops": .list(
        loops.map { loop in
          .object(leavingOut: [
            "phrase": .text(loop.phrase), "count": .integer(loop.count),
            "firstWord": .integer(loop.firstWord),
            "startTime": loop.start.map(JSONValue.decimal),
          ])
        }),
      "speech": speech.map(JSONValue.decimal), "coverage": coverage.map(JSONValue.decimal),
      "outsideSpeech": outsideSpeech.map(JSONValue.decimal),
      "longestUntranscribed": longestUntranscribed.map { stretch in
        .object([
          "from": .decimal(stretch.from), "to": .decimal(stretch.to),
          "speech": .decimal(stretch.speech),
        ])
      },
    ])
  }
}
