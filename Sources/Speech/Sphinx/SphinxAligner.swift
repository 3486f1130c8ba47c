/// Aligns words that are spoken in a given order.
final class SphinxAligner: Aligner {
  private let decoder: SphinxDecoder

  /// Aligns words of a lexicon.
  init(_ model: AcousticModel, lexicon: Lexicon, _ settings: SphinxSettings)
    throws(SpeechError)
  {
    let dictionary = try MemoryFile(named: "dictionary", holding: lexicon.dictionaryText)
    decoder = try SphinxDecoder(
      model: model, dictionary: dictionary.path, settings)
  }

  func align(_ words: [SpokenWord], in sound: Span<Int16>) throws(SpeechError) -> AlignedPiece? {
    try decoder.expect(words)
    guard let heard = decoder.hear(SilenceFloor.under(sound).span),
      let assigned = WordGrammar.assign(heard.words, to: words)
    else { return nil }
    return AlignedPiece(words: assigned, score: heard.score)
  }

  func scores(of choices: [[SpokenWord]], in sound: Span<Int16>) throws(SpeechError) -> [Double?] {
    var scores: [Double?] = []
    for words in choices { scores.append(try align(words, in: sound)?.score) }
    return scores
  }
}
