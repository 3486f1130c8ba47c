import Foundation

/// How far words were found from where they are.
struct WordErrors {
  /// How early (below zero) or late each word was found that has a time in truth, in seconds.
  private(set) var errors: [Double] = []
  /// Words without a time, or in the wrong place by over a second, that no flag tells of.
  private(set) var silentlyWrong = 0
  /// Words that a flag tells of.
  private(set) var flagged = 0
  /// Words at all.
  private(set) var count = 0

  /// Adds the words of a recording to the figures.
  mutating func add(_ found: [FoundWord], truth: [TimedSpeech.Word]) {
    count += truth.count
    for (word, truth) in zip(found, truth) {
      if word.isFlagged { flagged += 1 }
      guard let start = truth.start else { continue }
      guard let time = word.start else {
        if !word.isFlagged { silentlyWrong += 1 }
        continue
      }
      errors.append(time - start)
      if abs(time - start) > 1, !word.isFlagged { silentlyWrong += 1 }
    }
    silentlyWrong += max(0, truth.count - found.count)
  }

  static func + (a: WordErrors, b: WordErrors) -> WordErrors {
    var sum = a
    sum.errors += b.errors
    sum.silentlyWrong += b.silentlyWrong
    sum.flagged += b.flagged
    sum.count += b.count
    return sum
  }

  /// The middle of all errors without their signs, in milliseconds.
  var median: Double { middle(of: errors.map(abs)) * 1000 }

  /// The middle of all errors with their signs, in milliseconds.
  var bias: Double { middle(of: errors) * 1000 }

  /// The share of words that are off by less than so many seconds, in percent.
  func share(within seconds: Double) -> Double {
    100 * Double(errors.count { abs($0) < seconds }) / Double(max(1, errors.count))
  }

  static let columns = ["words", "median", "bias", "< 50 ms", "< 100 ms", "flagged", "wrong"]

  /// The figures as the cells of a row, in milliseconds and percent.
  var cells: [String] {
    [
      "\(count)", Text.number(median, 1), Text.number(bias, 1), Text.number(share(within: 0.05), 1),
      Text.number(share(within: 0.1), 1), "\(flagged)", "\(silentlyWrong)",
    ]
  }

  private func middle(of figures: [Double]) -> Double {
    figures.isEmpty ? 0 : Spread(of: figures).median
  }
}
