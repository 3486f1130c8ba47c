/// What can be said of a transcript without listening again: how much of it is sure, and what looks
/// wrong.
public struct QualityReport: Hashable, Sendable {
  /// A word and when it is spoken.
  public struct Word: Hashable, Sendable {
    /// The word.
    public let text: String
    /// When it begins, in seconds.
    public let start: Double
    /// When it ends, in seconds.
    public let end: Double
  }

  /// A stretch in which somebody speaks faster or slower than anybody does, or than the rest.
  public struct RateOutlier: Hashable, Sendable {
    /// The number of its first word in the transcript, from 0.
    public let firstWord: Int
    /// When it begins, in seconds.
    public let start: Double
    /// When it ends, in seconds.
    public let end: Double
    /// Letters, digits and signs in each second that is spoken in.
    public let charactersPerSecond: Double
  }

  /// Words that are repeated, as recognisers do when they run in circles.
  public struct Loop: Hashable, Sendable {
    /// What is repeated.
    public let phrase: String
    /// How often it stands there.
    public let count: Int
    /// The number of its first word in the transcript, from 0.
    public let firstWord: Int
    /// When it begins, in seconds; nil where the word has no time.
    public let start: Double?
  }

  /// A stretch of time, in seconds.
  public struct Stretch: Hashable, Sendable {
    /// Where it begins.
    public let from: Double
    /// Where it ends.
    public let to: Double
    /// How much of it is speech.
    public let speech: Double
  }

  /// How many words there are.
  public internal(set) var wordCount = 0
  /// The share of words that have a beginning and an end of their own: 0 to 1; 1 where there is no
  /// word. `timed`, `interpolated` and `untimed` are 1 together.
  public internal(set) var timed = 1.0
  /// The share of words whose times lie between those of their neighbours: 0 to 1.
  public internal(set) var interpolated = 0.0
  /// The share of words that lack a beginning or an end: 0 to 1.
  public internal(set) var untimed = 0.0
  /// The share of words that are hardly believed: 0 to 1. Their confidence is low, or they are flagged
  /// as uncertain.
  public internal(set) var lowConfidence = 0.0
  /// The longest word by its times; nil where none has any.
  public internal(set) var longestWord: Word?
  /// How fast the middle one of all stretches is spoken, in characters a second; nil where there is
  /// none.
  public internal(set) var usualRate: Double?
  /// Where the rate is out of bounds, in order.
  public internal(set) var rateOutliers: [RateOutlier] = []
  /// What is repeated, in order.
  public internal(set) var loops: [Loop] = []
  /// How much speech there is, in seconds; nil where nobody said where speech is.
  public internal(set) var speech: Double?
  /// The share of speech in which there are words: 0 to 1; nil where there is no speech, or nobody said
  /// where it is.
  public internal(set) var coverage: Double?
  /// The share of words' time that lies outside of speech; nil where nobody said where that is.
  public internal(set) var outsideSpeech: Double?
  /// The stretch between two words with the most speech in it; nil where nobody said where speech is,
  /// or every bit of it has words.
  public internal(set) var longestUntranscribed: Stretch?
}
