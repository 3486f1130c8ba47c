import Glibc
import Transcripts

/// A word that was recognised, and how likely it was the word.
struct RecognisedWord: Hashable, Sendable {
  /// The word, as the dictionary has it.
  let key: String
  /// When it begins, in frames (10 ms) from the beginning of the sound.
  let first: Int
  /// When it ends, in frames: the first one after it.
  let end: Int
  /// Its share of the probability of all that may have been said in its place: 0 to 1.
  let posterior: Double

  /// The same word in sound that begins `frames` earlier.
  func moved(by frames: Int) -> RecognisedWord {
    RecognisedWord(
      key: key, first: first + frames, end: end + frames, posterior: posterior)
  }
}

extension RecognisedWord: Codable {
  /// Reads the four values that `encode` wrote.
  init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    key = try values.decode(String.self)
    first = try values.decode(Int.self)
    end = try values.decode(Int.self)
    posterior = try values.decode(Double.self)
  }

  /// Writes four values in a row: hours have a hundred thousand words, and names would be most of a
  /// journal entry.
  func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    try values.encode(key)
    try values.encode(first)
    try values.encode(end)
    try values.encode(posterior)
  }
}

extension RecognisedWord {
  /// The word with its times in seconds, and how likely it was this word; flagged as uncertain where
  /// that is less than 0.5.
  var timed: TimedWord {
    // The model's frames are numbered by their beginnings, and stand for their middles: half a
    // frame.
    var word = TimedWord(
      key, start: Double(first * 10 + 5) / 1000, end: Double(end * 10 + 5) / 1000,
      confidence: confidence)
    if confidence < 0.5 { word.flags.insert(.uncertain) }
    if word.isOverlong { word.flags.insert(.overlong) }
    return word
  }

  /// What the posterior means: a recogniser is much surer of itself than it should be, of short
  /// words above all.
  ///
  /// A logistic regression over 1,172 recognised words of readers, synthetic voices, noises and
  /// music.
  private var confidence: Double {
    let logarithm = log(max(1e-4, posterior))
    let sum = 0.15 + 0.66 * logarithm + 0.14 * Double(min(key.count, 12))
    return (1000 / (1 + exp(-sum))).rounded() / 1000
  }
}
