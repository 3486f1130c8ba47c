/// CMU Sphinx: libpocketsphinx with a model of a language.
public struct SphinxEngine: SpeechEngine {
  /// The sounds and words of its language.
  public let model: AcousticModel
  private let shelf: ModelShelf

  /// Hears with a model.
  public init(_ model: AcousticModel) {
    self.model = model
    shelf = ModelShelf(folder: model.folder)
  }

  /// The library and its version.
  public var version: String { "pocketsphinx 5prealpha" }

  /// What the model's dictionary says, and what libespeak-ng says of other words.
  public func lexicon(of keys: Set<String>) throws(SpeechError) -> Lexicon {
    try model.check()
    return try Lexicon(of: keys, model: model)
  }

  /// Listens with a trigram model of the sentences.
  public func makeFollower(of sentences: [[String]], _ lexicon: Lexicon) throws(SpeechError)
    -> any Listener
  {
    if let sounds = shelf.take() { return try ModelFollower(sounds, of: sentences, lexicon) }
    let phrases = try MemoryFile(named: "phrases", holding: PhraseModel(of: sentences).text)
    return try SphinxListener(
      model, lexicon: lexicon, languageModel: phrases.path,
      SphinxSettings(beam: 1e-60, isHasty: true, languageWeight: 10))
  }

  /// Aligns with a grammar in which each word follows the one before.
  public func makeAligner(_ lexicon: Lexicon, isJudging: Bool) throws(SpeechError)
    -> any Aligner
  {
    if let sounds = shelf.take() {
      return try ModelAligner(sounds, lexicon: lexicon, isExact: !isJudging)
    }
    return try SphinxAligner(
      model, lexicon: lexicon,
      SphinxSettings(beam: isJudging ? 1e-200 : 1e-120, scoresEverySound: isJudging))
  }

  /// Listens with the model's own language model.
  public func makeRecogniser() throws(SpeechError) -> any Recogniser {
    try SphinxRecogniser(model)
  }
}
