/// What can hear words: another recogniser is one type that keeps this contract.
///
/// Sound is 16 kHz, one channel, 16 bits. What is heard in a piece depends on the piece alone, so
/// that work that was cut off and begun again gives the same words.
public protocol SpeechEngine: Sendable {
  /// What its results depend on beside the sound and the words: library and model, with versions.
  var version: String { get }

  /// How words are pronounced; words that nobody can pronounce are left out.
  func lexicon(of keys: Set<String>) throws(SpeechError) -> Lexicon

  /// Hears the words of a text wherever they are, also when some are skipped or repeated.
  func makeFollower(of sentences: [[String]], _ lexicon: Lexicon) throws(SpeechError)
    -> any Listener

  /// Hears words in a given order, and nothing else.
  ///
  /// - Parameter isJudging: whether scores say how well the words fit; else times are as exact as
  ///   they can be, and scores may mean nothing.
  func makeAligner(_ lexicon: Lexicon, isJudging: Bool) throws(SpeechError) -> any Aligner

  /// Hears whatever is said.
  func makeRecogniser() throws(SpeechError) -> any Recogniser
}

/// Hears words in pieces of sound. It belongs to one thread at a time.
public protocol Listener: AnyObject {
  /// The words of a piece, in order; none where nothing was understood.
  func hear(_ sound: Span<Int16>) -> [HeardWord]
}

/// Puts given words in their places. It belongs to one thread at a time.
public protocol Aligner: AnyObject {
  /// Where each of the words is, and how well the whole fits; nil where they cannot be heard in
  /// this order.
  func align(_ words: [SpokenWord], in sound: Span<Int16>) throws(SpeechError) -> AlignedPiece?

  /// The natural logarithms of how likely the whole is with each of several lists of words, comparable
  /// with each other only; nil where they cannot be heard in this order.
  func scores(of choices: [[SpokenWord]], in sound: Span<Int16>) throws(SpeechError) -> [Double?]
}

/// The words of a piece in their places.
public struct AlignedPiece: Sendable {
  /// What was heard of each word; empty for a word that is not spoken.
  public let words: [[HeardWord]]
  /// The natural logarithm of the likelihood of the whole piece: comparable for the same sound.
  public let score: Double
}
