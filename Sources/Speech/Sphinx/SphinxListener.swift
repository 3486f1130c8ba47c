/// Recognises words by a language model.
final class SphinxListener: Listener {
  private let decoder: SphinxDecoder

  /// Listens for words of a lexicon.
  convenience init(
    _ model: AcousticModel, lexicon: Lexicon, languageModel: String, _ settings: SphinxSettings
  ) throws(SpeechError) {
    let dictionary = try MemoryFile(named: "dictionary", holding: lexicon.dictionaryText)
    try self.init(model, dictionary: dictionary.path, languageModel: languageModel, settings)
  }

  /// Listens for words of a dictionary.
  init(
    _ model: AcousticModel, dictionary: String, languageModel: String, _ settings: SphinxSettings
  ) throws(SpeechError) {
    let decoder = try SphinxDecoder(model: model, dictionary: dictionary, settings)
    try decoder.expectSpeech(following: languageModel)
    self.decoder = decoder
  }

  func hear(_ sound: Span<Int16>) -> [HeardWord] {
    decoder.hear(SilenceFloor.under(sound).span)?.words ?? []
  }
}
