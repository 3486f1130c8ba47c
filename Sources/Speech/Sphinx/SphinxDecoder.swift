import CPocketSphinx
import Glibc

/// One decoder of libpocketsphinx with a dictionary of its own: it belongs to one thread at a time.
///
/// Sound is 16 kHz, one channel, 16 bits; times are in frames, a hundred a second.
@safe struct SphinxDecoder: ~Copyable {
  private let decoder: OpaquePointer
  private let arguments: CStringList

  /// Shorter sound holds no window of the analysis: it is not looked at.
  private static let fewestSamples = 1600

  /// Loads a model with a dictionary of the words that will be asked for.
  ///
  /// - Parameters:
  ///   - dictionary: a file in the form of cmudict: a word, a space and its phones a line.
  ///   - settings: what the search does otherwise than its defaults say.
  init(model: AcousticModel, dictionary path: String, _ settings: SphinxSettings)
    throws(SpeechError)
  {
    // It is per thread, and must be silent before the configuration is read.
    err_set_logfp(nil)
    arguments = CStringList(
      ["spool", "-hmm", model.folder, "-dict", path] + settings.arguments)
    let configuration = unsafe cmd_ln_parse_r(
      nil, ps_args(), Int32(arguments.count), arguments.pointers, 1)
    guard let configuration = unsafe configuration else {
      throw SpeechError(.model, on: model.folder, why: "libpocketsphinx refuses its configuration")
    }
    defer { unsafe cmd_ln_free_r(configuration) }
    guard let decoder = unsafe ps_init(configuration) else {
      throw SpeechError(.model, on: model.folder, why: "libpocketsphinx cannot load it")
    }
    unsafe self.decoder = unsafe decoder
  }

  deinit { _ = unsafe ps_free(decoder) }

  /// Lets the words follow each other in this order, and nothing else; silence and noises may
  /// stand between any two.
  func expect(_ words: [SpokenWord]) throws(SpeechError) {
    let grammar = WordGrammar(of: words)
    let logarithms = unsafe ps_get_logmath(decoder)
    guard let model = unsafe fsg_model_init("words", logarithms, 1, Int32(grammar.stateCount))
    else {
      throw SpeechError(.words, on: "\(words.count) words", why: "no memory for their grammar")
    }
    defer { unsafe fsg_model_free(model) }
    unsafe model.pointee.start_state = 0
    unsafe model.pointee.final_state = Int32(grammar.lastState)
    for arc in grammar.arcs {
      let id = unsafe fsg_model_word_add(model, arc.key)
      unsafe fsg_model_trans_add(model, Int32(arc.from), Int32(arc.to), 0, id)
    }
    guard unsafe ps_set_fsg(decoder, "words", model) == 0,
      unsafe ps_set_search(decoder, "words") == 0
    else {
      throw SpeechError(
        .words, on: words.prefix(8).compactMap(\.ways.first).joined().joined(separator: " "),
        why: "libpocketsphinx cannot build their grammar")
    }
  }

  /// Lets the words follow each other as the language model says.
  func expectSpeech(following languageModel: String) throws(SpeechError) {
    guard unsafe ps_set_lm_file(decoder, "speech", languageModel) == 0,
      unsafe ps_set_search(decoder, "speech") == 0
    else {
      throw SpeechError(.model, on: languageModel, why: "libpocketsphinx cannot load it")
    }
  }

  /// What is heard in the sound, in order, with fillers left out; nil where nothing fits what is
  /// expected.
  ///
  /// The time is that of the search: for a piece of some seconds a fraction of its length, growing
  /// with the number of words that may come next.
  func hear(_ sound: Span<Int16>) -> (words: [HeardWord], score: Double)? {
    guard sound.count >= Self.fewestSamples, unsafe ps_start_utt(decoder) == 0 else { return nil }
    unsafe sound.withUnsafeBufferPointer { samples in
      _ = unsafe ps_process_raw(decoder, samples.baseAddress, samples.count, 0, 1)
    }
    var total: Int32 = 0
    guard unsafe ps_end_utt(decoder) == 0, unsafe ps_get_hyp(decoder, &total) != nil else {
      return nil
    }
    let logarithms = unsafe ps_get_logmath(decoder)
    // Scores are kept in steps of 2^10 of the library's logarithm.
    let nat = unsafe logmath_log_to_ln(logarithms, 1 << 10)
    var words: [HeardWord] = []
    var next = unsafe ps_seg_iter(decoder)
    while let segment = unsafe next {
      var first: Int32 = 0
      var last: Int32 = 0
      var acoustic: Int32 = 0
      unsafe ps_seg_frames(segment, &first, &last)
      _ = unsafe ps_seg_prob(segment, &acoustic, nil, nil)
      if let name = unsafe ps_seg_word(segment), let text = unsafe String(validatingCString: name),
        !Self.isFiller(text), last >= first
      {
        words.append(
          HeardWord(
            key: String(text.prefix { $0 != "(" }), first: Int(first), end: Int(last) + 1,
            score: Double(acoustic) * nat / Double(last - first + 1)))
      }
      unsafe next = unsafe ps_seg_next(segment)
    }
    return (words, Double(total) * nat)
  }

  /// Whether it stands for silence, noise or nothing at all.
  private static func isFiller(_ text: String) -> Bool {
    text.hasPrefix("<") || text.hasPrefix("[") || text.hasPrefix("+") || text == "(NULL)"
  }
}
