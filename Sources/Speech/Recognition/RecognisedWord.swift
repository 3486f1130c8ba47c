import Glibc

/// A word that was recognised, and how likely it was the word.
package struct RecognisedWord: Hashable, Sendable {
  /// The word, as the dictionary has it.
  package let key: String
  /// When it begins, in frames (10 ms) from the beginning of the sound.
  package let first: Int
  /// When it ends, in frames: the first one after it.
  package let end: Int
  /// Its share of the probability of all that may have been said in its place: 0 to 1.
  package let posterior: Double

  /// The same word in sound that begins `frames` earlier.
  func moved(by frames: Int) -> RecognisedWord {
    RecognisedWord(
      key: key, first: first + frames, end: end + frames, posterior: posterior)
  }
}

extension RecognisedWord: Codable {
  /// Reads the four values that `encode` wrote.
  package init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    key = try values.decode(String.self)
    first = try values.decode(Int.self)
    end = try values.decode(Int.self)
    posterior = try values.decode(Double.self)
  }

  /// Writes four values in a row: hours have a hundred thousand words, and names would be most of a
  /// journal entry.
  package func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    try values.encode(key)
    try values.encode(first)
    try values.encode(end)
    try values.encode(posterior)
  }
}

/// A word that was said, as far as a recogniser can tell.
package struct RecognisedSpeech: Hashable, Sendable {
  /// The word: lower case, without punctuation.
  package let text: String
  /// When it begins, in seconds.
  package let start: Double
  /// When it ends, in seconds.
  package let end: Double
  /// How likely it was this word: 0 to 1.
  package let confidence: Double

  init(_ word: RecognisedWord) {
    text = word.key
    // The model's frames are numbered by their beginnings, and stand for their middles: half a
    // frame.
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
