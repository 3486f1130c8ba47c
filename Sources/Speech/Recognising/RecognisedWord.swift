/// A word that was recognised, and how likely it was the word.
public struct RecognisedWord: Hashable, Sendable {
  /// The word, as the dictionary has it.
  public let key: String
  /// When it begins, in hundredths of a second from the beginning of the sound.
  public let first: Int
  /// When it ends, in hundredths of a second: the first one after it.
  public let end: Int
  /// Its share of the probability of all that may have been said in its place: 0 to 1.
  public let posterior: Double

  /// Describes what was recognised.
  public init(key: String, first: Int, end: Int, posterior: Double) {
    self.key = key
    self.first = first
    self.end = end
    self.posterior = posterior
  }

  /// The same word in sound that begins `hundredths` earlier.
  func moved(by hundredths: Int) -> RecognisedWord {
    RecognisedWord(
      key: key, first: first + hundredths, end: end + hundredths, posterior: posterior)
  }
}

extension RecognisedWord: Codable {
  /// Reads the four values that `encode` wrote.
  public init(from decoder: any Decoder) throws {
    var values = try decoder.unkeyedContainer()
    key = try values.decode(String.self)
    first = try values.decode(Int.self)
    end = try values.decode(Int.self)
    posterior = try values.decode(Double.self)
  }

  /// Writes four values in a row: hours have a hundred thousand words, and names would be most of
  /// a note.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.unkeyedContainer()
    try values.encode(key)
    try values.encode(first)
    try values.encode(end)
    try values.encode(posterior)
  }
}
