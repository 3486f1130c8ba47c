import Glibc

/// A word that was said, as far as a recogniser can tell.
public struct SaidWord: Hashable, Sendable {
  /// The word: lower case, without punctuation.
  public let text: String
  /// When it begins, in seconds.
  public let start: Double
  /// When it ends, in seconds.
  public let end: Double
  /// How likely it was this word: 0 to 1.
  public let confidence: Double

  init(_ word: RecognisedWord) {
    text = word.key
    // The model's frames are told by their beginning, and mean their middle: half of a hundredth.
    start = Double(word.first * 10 + 5) / 1000
    end = Double(word.end * 10 + 5) / 1000
    confidence = Self.confidence(posterior: word.posterior, letters: word.key.count)
  }

  /// What the posterior means: a recogniser is much surer of itself than it should be, of short
  /// words above all.
  ///
  /// A logistic regression over 1,172 recognised words of readers, synthetic voices, noises and
  /// music.
  private static func confidence(posterior: Double, letters: Int) -> Double {
    let logarithm = log(max(1e-4, posterior))
    let sum = 0.15 + 0.66 * logarithm + 0.14 * Double(min(letters, 12))
    return (1000 / (1 + exp(-sum))).rounded() / 1000
  }
}
