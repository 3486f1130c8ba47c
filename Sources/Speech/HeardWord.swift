/// A word that was heard.
public struct HeardWord: Hashable, Sendable {
  /// The word, as the lexicon has it.
  public let key: String
  /// When it begins, in seconds from the beginning of the sound.
  public let start: Double
  /// When it ends, in seconds.
  public let end: Double
  /// The acoustic score of a frame: the natural logarithm of its likelihood, 0 at best.
  public let score: Double
}
