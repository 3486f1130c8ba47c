import CSpeechLoader

/// One decoder of libpocketsphinx with a dictionary of its own: it belongs to one thread at a time.
///
/// Sound is 16 kHz, one channel, 16 bits; times are in frames, a hundred a second.
@safe struct SphinxDecoder: ~Copyable {
  let decoder: OpaquePointer
  private let arguments: CStringList

  /// Shorter sound holds no window of the analysis: it is not looked at.
  static let fewestSamples = 1600

  /// Loads a model with a dictionary of the words that will be asked for.
  ///
  /// - Parameters:
  ///   - dictionary: a file in the form of cmudict: a word, a space and its phones a line.
  ///   - settings: what the search does otherwise than its defaults say.
  init(model: AcousticModel, dictionary path: String, _ settings: SphinxSettings)
    throws(SpeechError)
  {
    try SpeechLibraries.openSphinx()
    let arguments = CStringList(
      ["spool", "-hmm", model.folder, "-dict", path] + settings.arguments)
    guard let decoder = unsafe spool_sphinx_make(Int32(arguments.count), arguments.pointers) else {
      throw SpeechError(.model, on: model.folder, why: "libpocketsphinx cannot load it")
    }
    unsafe self.decoder = unsafe decoder
    self.arguments = arguments
  }

  deinit { unsafe spool_sphinx_free(decoder) }

  /// Lets the words follow each other in this order, and nothing else; silence and noises may
  /// stand between any two.
  func expect(_ words: [SpokenWord]) throws(SpeechError) {
    let grammar = WordGrammar(of: words)
    let keys = CStringList(grammar.arcs.map(\.key))
    let arcs = unsafe grammar.arcs.enumerated().map { index, arc in
      unsafe spool_sphinx_arc(
        from: Int32(arc.from), to: Int32(arc.to), word: keys.pointers[index])
    }
    let status = unsafe arcs.withUnsafeBufferPointer {
      unsafe spool_sphinx_expect_words(
        decoder, Int32(grammar.stateCount), Int32(grammar.lastState), $0.baseAddress,
        Int32($0.count))
    }
    guard status == 0 else {
      throw SpeechError(
        .words, on: words.prefix(8).compactMap(\.ways.first).joined().joined(separator: " "),
        why: "libpocketsphinx cannot build their grammar")
    }
  }

  /// Lets the words follow each other as the language model says.
  func expectSpeech(following languageModel: String) throws(SpeechError) {
    guard unsafe spool_sphinx_expect_speech(decoder, languageModel) == 0 else {
      throw SpeechError(.model, on: languageModel, why: "libpocketsphinx cannot load it")
    }
  }

  /// What is heard in the sound, in order, with fillers left out; nil where nothing fits what is
  /// expected.
  ///
  /// The time is that of the search: for a piece of some seconds a fraction of its length, growing
  /// with the number of words that may come next.
  func hear(_ sound: Span<Int16>) -> (words: [HeardWord], score: Double)? {
    guard sound.count >= Self.fewestSamples else { return nil }
    var score = 0.0
    let status = unsafe sound.withUnsafeBufferPointer {
      unsafe spool_sphinx_hear(decoder, $0.baseAddress, $0.count, &score)
    }
    guard status == 0 else { return nil }
    var words: [HeardWord] = []
    var segment = unsafe spool_sphinx_segment()
    while unsafe spool_sphinx_next(decoder, &segment) == 1 {
      guard let name = unsafe segment.word, let text = unsafe String(validatingCString: name),
        !Self.isFiller(text), unsafe segment.last >= segment.first
      else { continue }
      let first = unsafe Int(segment.first)
      let end = unsafe Int(segment.last) + 1
      words.append(
        HeardWord(
          key: String(text.prefix { $0 != "(" }), hundredths: first..<end,
          score: unsafe segment.score / Double(end - first)))
    }
    return (words, score)
  }

  /// Whether it stands for silence, noise or nothing at all.
  static func isFiller(_ text: String) -> Bool {
    text.hasPrefix("<") || text.hasPrefix("[") || text.hasPrefix("+") || text == "(NULL)"
  }
}
