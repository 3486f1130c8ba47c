package import Platform
import Synchronization

/// An acoustic model of CMU Sphinx, which aligns words by scores of its own or by libpocketsphinx.
package struct SphinxEngine: Sendable {
  package let model: AcousticModel
  /// Nil where libpocketsphinx aligns.
  private let sounds: ModelCache?

  /// - Parameter usesLibrary: whether libpocketsphinx aligns, which reads models of every kind, is less
  ///   exact and gives no scores.
  package init(_ model: AcousticModel, usesLibrary: Bool = false) {
    self.model = model
    sounds = usesLibrary ? nil : ModelCache(folder: model.folder)
  }

  /// What the model's dictionary says, and what libespeak-ng says of other words.
  func lexicon(of keys: Set<String>) throws(SpoolError) -> Lexicon {
    try model.check()
    return try Lexicon(of: keys, model: model)
  }

  /// Hears the words of a text wherever they are, also when some are skipped or repeated.
  func makeListener(for sentences: [[String]], _ lexicon: Lexicon) throws(SpoolError)
    -> any Listener
  {
    if let sounds { return try ModelFollower(try sounds.model(), of: sentences, lexicon) }
    return try SphinxListener(model, for: sentences, lexicon)
  }

  /// Hears words in a given order, and nothing else.
  func makeAligner(_ lexicon: Lexicon) throws(SpoolError) -> any Aligner {
    if let sounds { return try ModelAligner(try sounds.model(), lexicon: lexicon) }
    return SphinxAligner(model, lexicon: lexicon)
  }

  /// A model that is read once, for all threads.
  private final class ModelCache: Sendable {
    private let folder: String
    private let result = Mutex<Result<SoundModel, SpoolError>?>(nil)

    init(folder: String) { self.folder = folder }

    /// - Throws: where a file is missing, damaged, or of a kind that only libpocketsphinx reads.
    func model() throws(SpoolError) -> SoundModel {
      let read = result.withLock { kept in
        if let kept { return kept }
        let folder = folder
        let read = Result { () throws(SpoolError) in try SoundModel(folder: folder) }
        kept = read
        return read
      }
      return try read.get()
    }
  }
}

/// Hears words in pieces of sound: 16 kHz, one channel, 16 bits. It belongs to one thread at a time.
///
/// What is heard in a piece depends on the piece alone, so that work that was cut off and begun again
/// gives the same words.
protocol Listener: AnyObject {
  /// The words of a piece, in order; none where nothing was understood.
  func hear(_ sound: Span<Int16>) -> [DecodedWord]
}

/// Puts given words in their places. It belongs to one thread at a time.
protocol Aligner: AnyObject {
  /// What was heard of each of the words, which is nothing for a word that is not spoken; nil where
  /// they cannot be heard in this order.
  ///
  /// - Parameter isExact: whether times are as exact as they can be, and scores may mean nothing; else
  ///   scores say how well the words fit.
  func align(
    _ words: [SpokenWord], in sound: Span<Int16>, isExact: Bool
  ) throws(SpoolError) -> [[DecodedWord]]?

  /// The natural logarithms of how likely the whole is with each of several lists of words, comparable
  /// with each other only; nil where they cannot be heard in this order.
  func scores(of choices: [[SpokenWord]], in sound: Span<Int16>) throws(SpoolError) -> [Double?]
}

/// Speech that can be read piece by piece: 16 kHz, one channel, 16 bits.
package protocol SpeechSource: Sendable {
  /// Its length in frames (10 ms); what is left over is less than one.
  var frameCount: Int { get }

  /// Reads a piece, in frames. May be called from any thread.
  func read(_ place: Range<Int>) throws(SpoolError) -> [Int16]
}

extension SpoolError {
  /// A model that cannot be loaded, by one of its files or folders.
  static func acousticModel(
    _ path: String, _ reason: String,
    advice: String = "apt install pocketsphinx-en-us, or name another model"
  ) -> SpoolError {
    SpoolError(
      "cannot load the acoustic model \(path)", reason: reason, advice: advice,
      cause: .environment)
  }
}
