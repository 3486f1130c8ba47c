import Glibc
package import Platform
import Synchronization

/// An acoustic model of CMU Sphinx, which aligns words by scores of its own or by libpocketsphinx.
package struct SphinxEngine: Sendable {
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
  func lexicon(of keys: Set<String>) throws(SpoolError) -> Lexicon {
    try model.check()
    return try Lexicon(of: keys, model: model)
  }

  /// Hears the words of a text wherever they are, also when some are skipped or repeated.
  func makeListener(for sentences: [[String]], _ lexicon: Lexicon) throws(SpoolError)
    -> any Listener
  {
    if let sounds { return try ModelFollower(try sounds.model(), of: sentences, lexicon) }
    return try SphinxListener(model, for: sentences, lexicon)
  }

  /// Hears words in a given order, and nothing else.
  func makeAligner(_ lexicon: Lexicon) throws(SpoolError) -> any Aligner {
    if let sounds { return try ModelAligner(try sounds.model(), lexicon: lexicon) }
    return SphinxAligner(model, lexicon: lexicon)
  }

  /// A model that is read once, for all threads.
  private final class ModelCache: Sendable {
    private let folder: String
    private let result = Mutex<Result<SoundModel, SpoolError>?>(nil)

    init(folder: String) { self.folder = folder }

    /// - Throws: where a file is missing, damaged, or of a kind that only libpocketsphinx reads.
    func model() throws(SpoolError) -> SoundModel {
      let read = result.withLock { kept in
        if let kept { return kept }
        let folder = folder
        let read = Result { () throws(SpoolError) in try SoundModel(folder: folder) }
        kept = read
        return read
      }
      return try read.get()
    }
  }
}

/// Hears words in pieces of sound: 16 kHz, one channel, 16 bits. It belongs to one thread at a time.
///
/// What is heard in a piece depends on the piece alone, so that work that was cut off and begun again
/// gives the same words.
protocol Listener: AnyObject {
  /// The words of a piece, in order; none where nothing was understood.
  func hear(_ sound: Span<Int16>) -> [DecodedWord]
}

/// Puts given words in their places. It belongs to one thread at a time.
protocol Aligner: AnyObject {
  /// What was heard of each of the words, which is nothing for a word that is not spoken; nil where
  /// they cannot be heard in this order.
  ///
  /// - Parameter isExact: whether times are as exact as they can be, and scores may mean nothing; else
  ///   scores say how well the words fit.
  func align(
    _ words: [SpokenWord], in sound: Span<Int16>, isExact: Bool
  ) throws(SpoolError) -> [[DecodedWord]]?

  /// The natural logarithms of how likely the whole is with each of several lists of words, comparable
  /// with each other only; nil where they cannot be heard in this order.
  func scores(of choices: [[SpokenWord]], in sound: Span<Int16>) throws(SpoolError) -> [Double?]
}

/// Speech that can be read piece by piece: 16 kHz, one channel, 16 bits.
package protocol SpeechSource: Sendable {
  /// Its length in frames (10 ms); what is left over is less than one.
  var frameCount: Int { get }

  /// Reads a piece, in frames. May be called from any thread.
  func read(_ place: Range<Int>) throws(SpoolError) -> [Int16]
}

extension SpoolError {
  /// A model that cannot be loaded, by one of its files or folders.
  static func acousticModel(
    _ path: String, _ reason: String,
    advice: String = "apt install pocketsphinx-en-us, or name another model"
  ) -> SpoolError {
    SpoolError(
      "cannot load the acoustic model \(path)", reason: reason, advice: advice,
      cause: .environment)
  }
}

/// Aligns words that are spoken in a given order, by libpocketsphinx and a grammar in which each word
/// follows the one before.
private final class SphinxAligner: Aligner {
  private let model: AcousticModel
  private let lexicon: Lexicon
  // Each is loaded when it is needed first. Scores cost three times as much as times.
  private var exact: SphinxDecoder?
  private var judging: SphinxDecoder?

  init(_ model: AcousticModel, lexicon: Lexicon) {
    self.model = model
    self.lexicon = lexicon
  }

  func align(
    _ words: [SpokenWord], in sound: Span<Int16>, isExact: Bool
  ) throws(SpoolError) -> [[DecodedWord]]? {
    if isExact { return try place(words, in: sound)?.words }
    if judging == nil { judging = try decoder(beam: 1e-200, scoresEverySound: true) }
    return try judging?.place(words, in: sound)?.words
  }

  func scores(of choices: [[SpokenWord]], in sound: Span<Int16>) throws(SpoolError) -> [Double?] {
    var scores: [Double?] = []
    for words in choices { scores.append(try place(words, in: sound)?.score) }
    return scores
  }

  private func place(
    _ words: [SpokenWord], in sound: Span<Int16>
  ) throws(SpoolError) -> (words: [[DecodedWord]], score: Double)? {
    if exact == nil { exact = try decoder(beam: 1e-120, scoresEverySound: false) }
    return try exact?.place(words, in: sound)
  }

  private func decoder(beam: Double, scoresEverySound: Bool) throws(SpoolError) -> SphinxDecoder {
    let dictionary = try MemoryFile(named: "dictionary", holding: lexicon.dictionaryText)
    return try SphinxDecoder(
      model: model, dictionary: dictionary.path,
      SphinxDecoder.Settings(beam: beam, scoresEverySound: scoresEverySound))
  }
}

extension SphinxDecoder {
  /// Where words are that are spoken in this order, and the score of the whole.
  fileprivate func place(
    _ words: [SpokenWord], in sound: Span<Int16>
  ) throws(SpoolError) -> (words: [[DecodedWord]], score: Double)? {
    try expect(words)
    guard let heard = hear(SilenceFloor.under(sound).span),
      let assigned = WordGrammar.assign(heard.words, to: words)
    else { return nil }
    return (assigned, heard.score)
  }
}

/// Hears the words of a text wherever they are, by libpocketsphinx and a trigram model of the text.
private final class SphinxListener: Listener {
  private let decoder: SphinxDecoder

  /// Listens for sentences whose words a lexicon knows.
  init(_ model: AcousticModel, for sentences: [[String]], _ lexicon: Lexicon) throws(SpoolError) {
    let phrases = try MemoryFile(named: "phrases", holding: Self.phraseModel(of: sentences))
    let dictionary = try MemoryFile(named: "dictionary", holding: lexicon.dictionaryText)
    let decoder = try SphinxDecoder(
      model: model, dictionary: dictionary.path,
      SphinxDecoder.Settings(beam: 1e-60, isHasty: true, languageWeight: 10))
    try decoder.expectSpeech(following: phrases.path)
    self.decoder = decoder
  }

  func hear(_ sound: Span<Int16>) -> [DecodedWord] {
    decoder.hear(SilenceFloor.under(sound).span)?.words ?? []
  }
}

/// A file in memory, for libraries that take a path.
///
/// It ends with the process.
private struct MemoryFile: ~Copyable {
  private let file: OpenFile

  /// Where it can be opened, as long as it lives.
  var path: String { "/proc/self/fd/\(file.descriptor)" }

  init(named name: String, holding text: String) throws(SpoolError) {
    do throws(SystemError) {
      file = try OpenFile(inMemory: name, holding: Array(text.utf8))
    } catch {
      throw SpoolError("cannot look for \(name)", reason: error.words)
    }
  }
}

/// How likely the words of one text follow each other: a trigram model with back-off.
///
/// Recognition that listens for one text only is far better than recognition that listens for
/// everything, and it may still skip and repeat. Probabilities are discounted absolutely (Ney,
/// Essen and Kneser 1994): half a count of every n-gram goes to what was not seen.
extension SphinxListener {
  private static let discount = 0.5

  /// The model in the form of ARPA, of sentences whose words are keys of a lexicon.
  ///
  /// Complexity: O(*n* log *n*) in the number of words.
  private static func phraseModel(of sentences: [[String]]) -> String {
    var single: [String: Int] = [:]
    var pairs: [[String]: Int] = [:]
    var triples: [[String]: Int] = [:]
    for sentence in sentences {
      let words = ["<s>"] + sentence + ["</s>"]
      for index in words.indices {
        single[words[index], default: 0] += 1
        if index >= 1 { pairs[Array(words[index - 1...index]), default: 0] += 1 }
        if index >= 2 { triples[Array(words[index - 2...index]), default: 0] += 1 }
      }
    }
    let total = single.values.reduce(0, +)
    var kindsAfterWord: [String: Int] = [:]
    for pair in pairs.keys { kindsAfterWord[pair[0], default: 0] += 1 }
    var kindsAfterPair: [[String]: Int] = [:]
    for triple in triples.keys { kindsAfterPair[Array(triple[..<2]), default: 0] += 1 }

    func logarithm(_ probability: Double) -> String {
      String((log10(probability) * 10_000).rounded() / 10_000)
    }
    var lines = ["", "\\data\\"]
    lines += [
      "ngram 1=\(single.count)", "ngram 2=\(pairs.count)", "ngram 3=\(triples.count)", "",
      "\\1-grams:",
    ]
    for (word, count) in single.sorted(by: { $0.key < $1.key }) {
      let probability = word == "<s>" ? 1e-9 : Double(count) / Double(total)
      let spared = discount * Double(kindsAfterWord[word] ?? 0) / Double(count)
      lines.append("\(logarithm(probability)) \(word) \(logarithm(max(spared, 1e-9)))")
    }
    lines += ["", "\\2-grams:"]
    for (pair, count) in pairs.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let probability = (Double(count) - discount) / Double(single[pair[0]] ?? 1)
      let spared = discount * Double(kindsAfterPair[pair] ?? 0) / Double(count)
      lines.append(
        "\(logarithm(probability)) \(pair.joined(separator: " ")) \(logarithm(max(spared, 1e-9)))")
    }
    lines += ["", "\\3-grams:"]
    for (triple, count) in triples.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let before = pairs[Array(triple[..<2])] ?? 1
      let probability = (Double(count) - discount) / Double(before)
      lines.append("\(logarithm(probability)) \(triple.joined(separator: " "))")
    }
    lines += ["", "\\end\\", ""]
    return lines.joined(separator: "\n")
  }
}
