import CSpeechLoader

/// Recognises whatever the model's own language model finds likely.
final class SphinxRecogniser: Recogniser {
  private let decoder: SphinxDecoder

  /// Loads the model, its dictionary and its language model, which takes some tenths of a second.
  init(_ model: AcousticModel) throws(SpeechError) {
    guard let languageModel = model.languageModel else {
      throw SpeechError(.model, on: model.folder, why: "no language model goes with it")
    }
    decoder = try SphinxDecoder(
      model: model, dictionary: model.dictionary, SphinxSettings(searchesLattice: true))
    try decoder.expectSpeech(following: languageModel)
  }

  func recognise(_ sound: Span<Int16>) -> [RecognisedWord] { decoder.recognise(sound) }
}

extension SphinxDecoder {
  /// What is said in the sound as the language model has it, in order, with fillers left out.
  ///
  /// The posteriors are those of the lattice of words that the search leaves.
  fileprivate func recognise(_ sound: Span<Int16>) -> [RecognisedWord] {
    guard sound.count >= Self.fewestSamples else { return [] }
    var score = 0.0
    let status = unsafe sound.withUnsafeBufferPointer {
      unsafe spool_sphinx_hear(decoder, $0.baseAddress, $0.count, &score)
    }
    guard status == 0 else { return [] }
    var words: [RecognisedWord] = []
    var segment = unsafe spool_sphinx_segment()
    while unsafe spool_sphinx_next(decoder, &segment) == 1 {
      guard let name = unsafe segment.word, let text = unsafe String(validatingCString: name),
        !Self.isFiller(text), unsafe segment.last >= segment.first
      else { continue }
      words.append(
        RecognisedWord(
          key: String(text.prefix { $0 != "(" }), first: unsafe Int(segment.first),
          end: unsafe Int(segment.last) + 1,
          // As many digits as mean something: notes are smaller, and equal on every machine.
          posterior: unsafe (min(1, segment.posterior) * 10_000).rounded() / 10_000))
    }
    return words
  }
}
