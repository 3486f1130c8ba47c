import CSpeechLoader
import Glibc
import Platform

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
  init(model: AcousticModel, dictionary path: String, _ settings: Settings)
    throws(SpoolError)
  {
    try SpeechLibraries.openSphinx()
    let arguments = CStringList(
      ["spool", "-hmm", model.folder, "-dict", path] + settings.arguments)
    guard let decoder = unsafe spool_sphinx_make(Int32(arguments.count), arguments.pointers) else {
      throw .acousticModel(model.folder, "libpocketsphinx cannot load it")
    }
    unsafe self.decoder = unsafe decoder
    self.arguments = arguments
  }

  /// Loads a model with its dictionary and its language model, which takes some tenths of a second, to
  /// recognise whatever is said.
  ///
  /// What it recognised before may change what it recognises: words that are to depend on their piece
  /// alone take a new one.
  static func recognising(by model: AcousticModel) throws(SpoolError) -> SphinxDecoder {
    guard let languageModel = model.languageModel else {
      throw .acousticModel(model.folder, "no language model goes with it")
    }
    let decoder = try SphinxDecoder(
      model: model, dictionary: model.dictionary, Settings(searchesLattice: true))
    try decoder.expectSpeech(following: languageModel)
    return decoder
  }

  deinit { unsafe spool_sphinx_free(decoder) }

  /// Lets the words follow each other in this order, and nothing else; silence and noises may
  /// stand between any two.
  func expect(_ words: [SpokenWord]) throws(SpoolError) {
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
      let keys = words.prefix(8).compactMap(\.variants.first).joined().joined(separator: " ")
      throw SpoolError(
        "cannot look for \(keys)", reason: "libpocketsphinx cannot build their grammar")
    }
  }

  /// Lets the words follow each other as the language model says.
  func expectSpeech(following languageModel: String) throws(SpoolError) {
    guard unsafe spool_sphinx_expect_speech(decoder, languageModel) == 0 else {
      throw .acousticModel(languageModel, "libpocketsphinx cannot load it")
    }
  }

  /// What is heard in the sound, in order, with fillers left out; nil where nothing fits what is
  /// expected.
  ///
  /// The time is that of the search: for a piece of some seconds a fraction of its length, growing
  /// with the number of words that may come next.
  func hear(_ sound: Span<Int16>) -> (words: [DecodedWord], score: Double)? {
    decode(sound) { key, frames, score, _ in
      DecodedWord(key: key, frames: frames, score: score / Double(frames.count))
    }
  }

  /// What is said in the sound as the language model has it, in order, with fillers left out.
  ///
  /// The posteriors are those of the lattice of words that the search leaves.
  func recognise(_ sound: Span<Int16>) -> [RecognisedWord] {
    decode(sound) { key, frames, _, posterior in
      // As many digits as mean something: journal entries are smaller, and equal on every machine.
      RecognisedWord(
        key: key, first: frames.lowerBound, end: frames.upperBound,
        posterior: (min(1, posterior) * 10_000).rounded() / 10_000)
    }?.words ?? []
  }

  /// Decodes sound; each word has its key, its frames (10 ms), their score and its posterior.
  private func decode<Word>(
    _ sound: Span<Int16>, _ word: (String, Range<Int>, Double, Double) -> Word
  ) -> (words: [Word], score: Double)? {
    guard sound.count >= Self.fewestSamples else { return nil }
    var score = 0.0
    let status = unsafe sound.withUnsafeBufferPointer {
      unsafe spool_sphinx_hear(decoder, $0.baseAddress, $0.count, &score)
    }
    guard status == 0 else { return nil }
    var words: [Word] = []
    var segment = unsafe spool_sphinx_segment()
    while unsafe spool_sphinx_next(decoder, &segment) == 1 {
      guard let name = unsafe segment.word, let text = unsafe String(validatingCString: name),
        !Self.isFiller(text), unsafe segment.last >= segment.first
      else { continue }
      let frames = unsafe Int(segment.first)..<Int(segment.last) + 1
      words.append(
        unsafe word(
          String(text.prefix { $0 != "(" }), frames, segment.score, segment.posterior))
    }
    return (words, score)
  }

  /// Whether it stands for silence, noise or nothing at all.
  static func isFiller(_ text: String) -> Bool {
    text.hasPrefix("<") || text.hasPrefix("[") || text.hasPrefix("+") || text == "(NULL)"
  }
}

/// Texts as C programs take their arguments; they live as long as the list does, because
/// libsphinxbase keeps the pointers.
@safe struct CStringList: ~Copyable {
  let count: Int
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  init(_ texts: [String]) {
    count = texts.count
    unsafe pointers = .allocate(capacity: texts.count + 1)
    for (index, text) in texts.enumerated() {
      unsafe pointers.advanced(by: index).initialize(to: strdup(text))
    }
    unsafe pointers.advanced(by: texts.count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { unsafe free(pointers[index]) }
    unsafe pointers.deallocate()
  }
}

extension SphinxDecoder {
  /// How a decoder searches.
  ///
  /// Frames of silence are always kept: without them every later time would be early.
  struct Settings {
    /// How much less likely than the best a path may be before it is given up; nil for what the
    /// library finds right for recognition.
    var beam: Double?
    /// Whether the sounds that no path asks for are scored as well: only then are the scores of
    /// different sounds comparable, at three times the cost.
    var scoresEverySound = false
    /// Whether only every other frame is scored: it loses few words and saves a third.
    var isHasty = false
    /// Whether all that may have been said is kept, and the likeliest path through it searched: only
    /// then are there posteriors.
    var searchesLattice = false
    /// How much more than the sound the order of words counts.
    var languageWeight: Double?

    /// The settings as the library takes them.
    var arguments: [String] {
      var list = ["-remove_silence", "no", "-fwdflat", "no"]
      list += ["-bestpath", searchesLattice ? "yes" : "no"]
      if let beam {
        for name in ["-beam", "-pbeam", "-wbeam"] { list += [name, "\(beam)"] }
      }
      list += ["-compallsen", scoresEverySound ? "yes" : "no"]
      if isHasty { list += ["-ds", "2"] }
      if let languageWeight { list += ["-lw", "\(languageWeight)"] }
      return list
    }
  }
}

/// The sounds of a language as a recogniser knows them: files of CMU Sphinx.
package struct AcousticModel: Hashable, Sendable {
  /// The folder of the sounds: `mdef`, `means`, `variances` and so on.
  package let folder: String
  /// The pronunciations of known words, in the form of cmudict.
  package let dictionary: String
  /// How likely words follow each other; nil where recognition is not wanted.
  package let languageModel: String?

  package init(folder: String, dictionary: String, languageModel: String?) {
    self.folder = folder
    self.dictionary = dictionary
    self.languageModel = languageModel
  }

  /// Whether its files are there, before any of them is opened.
  /// - Throws: where one cannot be read; the folder is named before the dictionary.
  func check() throws(SpoolError) {
    func check(_ file: String, of path: String, reason: String? = nil) throws(SpoolError) {
      if let error = FilePath.obstacle(to: file, R_OK) {
        throw .acousticModel(path, reason ?? error.words)
      }
    }
    try check(folder, of: folder)
    try check(
      folder + "/mdef", of: folder,
      reason: "it has no mdef, as the folders of CMU Sphinx's models do")
    try check(dictionary, of: dictionary)
    if let stamp = try? FileStamp(following: dictionary) {
      if let complaint = stamp.complaint { throw .acousticModel(dictionary, complaint) }
      if stamp.byteCount > Self.longestDictionary { throw Self.tooLong(dictionary) }
    }
  }

  /// The bytes of the longest dictionary: forty times those of cmudict.
  static let longestDictionary = 128_000_000

  /// A dictionary that is read into memory has to be a dictionary.
  static func tooLong(_ dictionary: String) -> SpoolError {
    .acousticModel(
      dictionary, "it is longer than \(longestDictionary / 1_000_000) MB: no dictionary of words is"
    )
  }

  /// US English, as Debian's package pocketsphinx-en-us installs it.
  package static let english = AcousticModel(
    folder: "/usr/share/pocketsphinx/model/en-us/en-us",
    dictionary: "/usr/share/pocketsphinx/model/en-us/cmudict-en-us.dict",
    languageModel: "/usr/share/pocketsphinx/model/en-us/en-us.lm.bin")
}
