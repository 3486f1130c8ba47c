/// CMU Sphinx: libpocketsphinx with a model of a language.
public struct SphinxEngine: SpeechEngine {
  /// The sounds and words of its language.
  public let model: AcousticModel

  /// Hears with a model.
  public init(_ model: AcousticModel) { self.model = model }

  public var version: String { "pocketsphinx 5prealpha" }

  public func lexicon(of keys: Set<String>) throws(SpeechError) -> Lexicon {
    try Lexicon(of: keys, model: model)
  }

  public func makeFollower(of sentences: [[String]], _ lexicon: Lexicon) throws(SpeechError)
    -> any Listener
  {
    let phrases = try MemoryFile(named: "phrases", holding: PhraseModel(of: sentences).text)
    return try SphinxListener(
      model, lexicon: lexicon, languageModel: phrases.path,
      SphinxSettings(beam: 1e-60, isHasty: true, languageWeight: 10))
  }

  public func makeAligner(_ lexicon: Lexicon, isJudging: Bool) throws(SpeechError)
    -> any Aligner
  {
    try SphinxAligner(
      model, lexicon: lexicon, SphinxSettings(beam: 1e-200, scoresEverySound: isJudging))
  }

  public func makeRecogniser() throws(SpeechError) -> any Listener {
    guard let languageModel = model.languageModel else {
      throw SpeechError(.model, on: model.folder, why: "no language model goes with it")
    }
    return try SphinxListener(
      model, dictionary: model.dictionary, languageModel: languageModel,
      SphinxSettings(beam: 1e-60))
  }
}
