public import JSONText

extension QualityReport {
  /// The report as JSON: shares of 0 to 1, times in seconds. O(n).
  public var json: JSONValue {
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
      "rateOutliers": .list(rateOutliers.map(Self.value)),
      "loops": .list(loops.map(Self.value)),
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

  private static func value(of outlier: RateOutlier) -> JSONValue {
    .object([
      "firstWord": .integer(outlier.firstWord), "startTime": .decimal(outlier.start),
      "endTime": .decimal(outlier.end),
      "charactersPerSecond": .decimal(outlier.charactersPerSecond),
    ])
  }

  private static func value(of loop: Loop) -> JSONValue {
    .object(leavingOut: [
      "phrase": .text(loop.phrase), "count": .integer(loop.count),
      "firstWord": .integer(loop.firstWord), "startTime": loop.start.map(JSONValue.decimal),
    ])
  }
}
