import CPocketSphinx
import Glibc

/// One decoder of libpocketsphinx with a dictionary of its own: it belongs to one thread at a time.
///
/// Sound is 16 kHz, one channel, 16 bits. Three settings decide whether the times can be used:
/// frames of silence are kept (else every later time is early), the beams are wide, and every
/// senone is scored (so that scores of different sounds can be compared).
@safe struct SphinxDecoder: ~Copyable {
  private let decoder: OpaquePointer
  private let arguments: CStringList

  /// Frames in a second of sound.
  static let frameRate = 100

  /// Loads a model with a dictionary of the words that will be asked for.
  ///
  /// - Parameters:
  ///   - dictionary: a file in the form of cmudict: a word, a space and its phones a line.
  ///   - beam: how much less likely than the best a path may be, before it is given up.
  init(model: AcousticModel, dictionary path: String, beam: Double) throws(SpeechError) {
    // It is per thread, and must be silent before the configuration is read.
    err_set_logfp(nil)
    arguments = CStringList([
      "spool", "-hmm", model.folder, "-dict", path,
      "-remove_silence", "no", "-compallsen", "yes",
      "-beam", "\(beam)", "-pbeam", "\(beam)", "-wbeam", "\(beam)",
      "-bestpath", "no", "-fwdflat", "no",
    ])
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
  func expect(_ words: [String]) throws(SpeechError) {
    let logarithms = unsafe ps_get_logmath(decoder)
    guard let grammar = unsafe fsg_model_init("words", logarithms, 1, Int32(words.count + 1)) else {
      throw SpeechError(.words, on: "\(words.count) words", why: "no memory for their grammar")
    }
    defer { unsafe fsg_model_free(grammar) }
    unsafe grammar.pointee.start_state = 0
    unsafe grammar.pointee.final_state = Int32(words.count)
    for (state, word) in words.enumerated() {
      let id = unsafe fsg_model_word_add(grammar, word)
      unsafe fsg_model_trans_add(grammar, Int32(state), Int32(state + 1), 0, id)
    }
    guard unsafe ps_set_fsg(decoder, "words", grammar) == 0,
      unsafe ps_set_search(decoder, "words") == 0
    else {
      throw SpeechError(
        .words, on: words.prefix(8).joined(separator: " "),
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
  func hear(_ sound: Span<Int16>) -> [SphinxWord]? {
    guard unsafe ps_start_utt(decoder) == 0 else { return nil }
    unsafe sound.withUnsafeBufferPointer { samples in
      _ = unsafe ps_process_raw(decoder, samples.baseAddress, samples.count, 0, 1)
    }
    guard unsafe ps_end_utt(decoder) == 0, unsafe ps_get_hyp(decoder, nil) != nil else {
      return nil
    }
    let logarithms = unsafe ps_get_logmath(decoder)
    var words: [SphinxWord] = []
    var next = unsafe ps_seg_iter(decoder)
    while let segment = unsafe next {
      var first: Int32 = 0
      var last: Int32 = 0
      var acoustic: Int32 = 0
      unsafe ps_seg_frames(segment, &first, &last)
      let posterior = unsafe ps_seg_prob(segment, &acoustic, nil, nil)
      if let name = unsafe ps_seg_word(segment), let text = unsafe String(validatingCString: name),
        !SphinxWord.isFiller(text), last >= first
      {
        words.append(
          SphinxWord(
            text: text, frames: Int(first)..<Int(last) + 1,
            score: unsafe logmath_log_to_ln(logarithms, acoustic << 10),
            posterior: unsafe logmath_exp(logarithms, posterior)))
      }
      unsafe next = unsafe ps_seg_next(segment)
    }
    return words
  }
}
