import CPosix
import CSpeechLoader
import Glibc
import Synchronization

/// An acoustic model of CMU Sphinx. Alignment scores it itself; recognition uses libpocketsphinx.
package struct SphinxEngine: SpeechEngine {
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
  package func lexicon(of keys: Set<String>) throws(SpeechError) -> Lexicon {
    try model.check()
    return try Lexicon(of: keys, model: model)
  }

  /// Listens with a trigram model of the sentences.
  package func makeFollower(of sentences: [[String]], _ lexicon: Lexicon) throws(SpeechError)
    -> any Listener
  {
    if let sounds { return try ModelFollower(try sounds.model(), of: sentences, lexicon) }
    let phrases = try MemoryFile(named: "phrases", holding: PhraseModel(of: sentences).text)
    return try SphinxListener(
      model, lexicon: lexicon, languageModel: phrases.path,
      SphinxSettings(beam: 1e-60, isHasty: true, languageWeight: 10))
  }

  /// Aligns with a grammar in which each word follows the one before.
  package func makeAligner(_ lexicon: Lexicon, isJudging: Bool) throws(SpeechError)
    -> any Aligner
  {
    if let sounds {
      return try ModelAligner(try sounds.model(), lexicon: lexicon, isExact: !isJudging)
    }
    return try SphinxAligner(
      model, lexicon: lexicon,
      SphinxSettings(beam: isJudging ? 1e-200 : 1e-120, scoresEverySound: isJudging))
  }

  /// Listens with the model's own language model.
  package func makeRecogniser() throws(SpeechError) -> any Recogniser {
    try SphinxRecogniser(model)
  }
}

/// A model that is read once, for all threads.
private final class ModelCache: Sendable {
  private let folder: String
  private let result = Mutex<Result<SoundModel, SpeechError>?>(nil)

  init(folder: String) { self.folder = folder }

  /// - Throws: where a file is missing, damaged, or of a kind that only libpocketsphinx reads.
  func model() throws(SpeechError) -> SoundModel {
    let read = result.withLock { kept in
      if let kept { return kept }
      let folder = folder
      let read = Result { () throws(SpeechError) in try SoundModel(folder: folder) }
        .mapError { SpeechError(.ownModel, on: $0.subject, why: $0.why) }
      kept = read
      return read
    }
    return try read.get()
  }
}

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

  func hear(_ sound: Span<Int16>) -> [DecodedWord] {
    decoder.hear(SilenceFloor.under(sound).span)?.words ?? []
  }
}

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

/// A file in memory, for libraries that take a path.
///
/// It ends with the process.
struct MemoryFile: ~Copyable {
  private let descriptor: Int32

  /// Where it can be opened, as long as it lives.
  var path: String { "/proc/self/fd/\(descriptor)" }

  init(named name: String, holding text: String) throws(SpeechError) {
    let descriptor = unsafe posix_memory_file(name)
    self.descriptor = descriptor
    guard descriptor >= 0 else {
      throw SpeechError(.words, on: name, why: unsafe String(cString: strerror(errno)))
    }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = unsafe bytes.withUnsafeBufferPointer {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      guard written > 0 else {
        throw SpeechError(.words, on: name, why: unsafe String(cString: strerror(errno)))
      }
      bytes = bytes.dropFirst(written)
    }
  }

  deinit { close(descriptor) }
}

/// Hears the words of a text wherever they are, by a model that Spool scores itself.
final class ModelFollower: Listener {
  private let model: SoundModel
  private let analysis: CepstralAnalysis
  private var scores: StateScores
  private var search: PhraseSearch
  /// What the words are held against.
  private var loop: SoundLoop

  /// Only every other frame is scored: it loses hardly any word and saves a third.
  private static let stride = 2

  /// Listens for sentences whose words a lexicon knows.
  init(_ model: SoundModel, of sentences: [[String]], _ lexicon: Lexicon) throws(SpeechError) {
    self.model = model
    analysis = try CepstralAnalysis(parameters: model.parameters)
    scores = StateScores(of: model)
    search = PhraseSearch(PhraseGraph(of: sentences, lexicon, model), model)
    loop = SoundLoop(model)
  }

  func hear(_ sound: Span<Int16>) -> [DecodedWord] {
    guard sound.count >= SphinxDecoder.fewestSamples else { return [] }
    let features = analysis.features(of: SilenceFloor.under(sound).span)
    search.begin()
    loop.begin()
    var frame = 0
    while frame < features.frameCount {
      let end = min(features.frameCount, frame + StateScores.capacity * Self.stride)
      let frames = Array(Swift.stride(from: frame, to: end, by: Self.stride))
      scores.score(features, frames)
      for index in frame..<end {
        let slot = (index - frame) / Self.stride
        search.pass(slot, scores)
        loop.pass(slot, scores)
      }
      frame = end
    }
    return search.rows(against: loop).flatMap(\.judged)
  }
}

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
          // As many digits as mean something: journal entries are smaller, and equal on every
          // machine.
          posterior: unsafe (min(1, segment.posterior) * 10_000).rounded() / 10_000))
    }
    return words
  }
}

/// How likely the words of one text follow each other: a trigram model with back-off.
///
/// Recognition that listens for one text only is far better than recognition that listens for
/// everything, and it may still skip and repeat. Probabilities are discounted absolutely (Ney,
/// Essen and Kneser 1994): half a count of every n-gram goes to what was not seen.
struct PhraseModel {
  /// The model in the form of ARPA.
  let text: String

  private static let discount = 0.5

  /// Counts what follows what in sentences, whose words are keys of a lexicon.
  ///
  /// Complexity: O(*n* log *n*) in the number of words.
  init(of sentences: [[String]]) {
    var single: [String: Int] = [:]
    var pairs: [Pair: Int] = [:]
    var triples: [Triple: Int] = [:]
    for sentence in sentences {
      let words = ["<s>"] + sentence + ["</s>"]
      for index in words.indices {
        single[words[index], default: 0] += 1
        if index >= 1 { pairs[Pair(words[index - 1], words[index]), default: 0] += 1 }
        if index >= 2 {
          triples[Triple(words[index - 2], words[index - 1], words[index]), default: 0] += 1
        }
      }
    }
    let total = single.values.reduce(0, +)
    var kindsAfterWord: [String: Int] = [:]
    for pair in pairs.keys { kindsAfterWord[pair.first, default: 0] += 1 }
    var kindsAfterPair: [Pair: Int] = [:]
    for triple in triples.keys {
      kindsAfterPair[Pair(triple.first, triple.second), default: 0] += 1
    }

    func logarithm(_ probability: Double) -> String {
      String(Int((log10(probability) * 10_000).rounded())).dotted
    }
    var lines = ["", "\\data\\"]
    lines += [
      "ngram 1=\(single.count)", "ngram 2=\(pairs.count)", "ngram 3=\(triples.count)", "",
      "\\1-grams:",
    ]
    for (word, count) in single.sorted(by: { $0.key < $1.key }) {
      let probability = word == "<s>" ? 1e-9 : Double(count) / Double(total)
      let spared = Self.discount * Double(kindsAfterWord[word] ?? 0) / Double(count)
      lines.append("\(logarithm(probability)) \(word) \(logarithm(max(spared, 1e-9)))")
    }
    lines += ["", "\\2-grams:"]
    for (pair, count) in pairs.sorted(by: { $0.key < $1.key }) {
      let probability = (Double(count) - Self.discount) / Double(single[pair.first] ?? 1)
      let spared = Self.discount * Double(kindsAfterPair[pair] ?? 0) / Double(count)
      lines.append(
        "\(logarithm(probability)) \(pair.first) \(pair.second) \(logarithm(max(spared, 1e-9)))")
    }
    lines += ["", "\\3-grams:"]
    for (triple, count) in triples.sorted(by: { $0.key < $1.key }) {
      let before = pairs[Pair(triple.first, triple.second)] ?? 1
      let probability = (Double(count) - Self.discount) / Double(before)
      lines.append("\(logarithm(probability)) \(triple.first) \(triple.second) \(triple.third)")
    }
    lines += ["", "\\end\\", ""]
    text = lines.joined(separator: "\n")
  }

  private struct Pair: Hashable, Comparable {
    let first: String
    let second: String

    init(_ first: String, _ second: String) {
      self.first = first
      self.second = second
    }

    static func < (left: Pair, right: Pair) -> Bool {
      (left.first, left.second) < (right.first, right.second)
    }
  }

  private struct Triple: Hashable, Comparable {
    let first: String
    let second: String
    let third: String

    init(_ first: String, _ second: String, _ third: String) {
      self.first = first
      self.second = second
      self.third = third
    }

    static func < (left: Triple, right: Triple) -> Bool {
      (left.first, left.second, left.third) < (right.first, right.second, right.third)
    }
  }
}

extension String {
  /// Ten-thousandths as a decimal number.
  fileprivate var dotted: String {
    let isNegative = hasPrefix("-")
    let digits = isNegative ? String(dropFirst()) : self
    let padded = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    return (isNegative ? "-" : "") + padded.dropLast(4) + "." + padded.suffix(4)
  }
}
