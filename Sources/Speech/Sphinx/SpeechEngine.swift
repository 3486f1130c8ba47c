/// What can hear words: another recogniser is one type that keeps this contract.
///
/// Sound is 16 kHz, one channel, 16 bits. What is heard in a piece depends on the piece alone, so
/// that work that was cut off and begun again gives the same words.
package protocol SpeechEngine: Sendable {
  /// How words are pronounced; words without a pronunciation are left out.
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
package protocol Listener: AnyObject {
  /// The words of a piece, in order; none where nothing was understood.
  func hear(_ sound: Span<Int16>) -> [DecodedWord]
}

/// Puts given words in their places. It belongs to one thread at a time.
package protocol Aligner: AnyObject {
  /// Where each of the words is, and how well the whole fits; nil where they cannot be heard in
  /// this order.
  func align(_ words: [SpokenWord], in sound: Span<Int16>) throws(SpeechError) -> AlignedPiece?

  /// The natural logarithms of how likely the whole is with each of several lists of words, comparable
  /// with each other only; nil where they cannot be heard in this order.
  func scores(of choices: [[SpokenWord]], in sound: Span<Int16>) throws(SpeechError) -> [Double?]
}

/// The words of a piece in their places.
package struct AlignedPiece: Sendable {
  /// What was heard of each word; empty for a word that is not spoken.
  package let words: [[DecodedWord]]
  /// The natural logarithm of the likelihood of the whole piece: comparable for the same sound.
  package let score: Double
}

/// Hears whatever is said. It belongs to one thread at a time.
///
/// What it heard before may change what it hears: words that are to depend on their piece alone
/// take a new one.
package protocol Recogniser: AnyObject {
  /// The words of a piece, in order; none where nothing was understood.
  func recognise(_ sound: Span<Int16>) -> [RecognisedWord]
}

/// Speech that can be read piece by piece: 16 kHz, one channel, 16 bits.
package protocol SpeechSource: Sendable {
  /// Its length in frames (10 ms); what is left over is less than one.
  var frameCount: Int { get }

  /// Reads a piece, in frames. May be called from any thread.
  func read(_ place: Range<Int>) throws(SpeechError) -> [Int16]
}

/// Why words could not be found in sound.
package struct SpeechError: Error, Hashable, Sendable {
  package enum Doing: Hashable, Sendable {
    case library
    case model
    /// Reading a model for Spool's own scoring, which not every kind of model suits.
    case ownModel
    /// Preparing the words that are looked for.
    case words
    /// Finding a voice for a language.
    case language
    /// Asking how a word is pronounced.
    case pronunciation
    case reading
    /// Nothing: the work was cancelled.
    case stopping
  }

  package let doing: Doing
  /// What it was done to: a file or words.
  package let subject: String
  /// Why it failed.
  package let why: String

  package init(_ doing: Doing, on subject: String, why: String) {
    self.doing = doing
    self.subject = subject
    self.why = why
  }
}
