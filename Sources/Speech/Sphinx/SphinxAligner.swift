import CPosix
import Glibc
import Platform

/// Aligns words that are spoken in a given order, by libpocketsphinx and a grammar in which each word
/// follows the one before.
final class SphinxAligner: Aligner {
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
final class SphinxListener: Listener {
  private let decoder: SphinxDecoder

  /// Listens for sentences whose words a lexicon knows.
  init(_ model: AcousticModel, for sentences: [[String]], _ lexicon: Lexicon) throws(SpoolError) {
    let phrases = try MemoryFile(named: "phrases", holding: PhraseModel(of: sentences).text)
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
struct MemoryFile: ~Copyable {
  private let descriptor: Int32

  /// Where it can be opened, as long as it lives.
  var path: String { "/proc/self/fd/\(descriptor)" }

  init(named name: String, holding text: String) throws(SpoolError) {
    let descriptor = unsafe posix_memory_file(name)
    self.descriptor = descriptor
    guard descriptor >= 0 else {
      throw SpoolError("cannot look for \(name)", reason: SystemError.last.words)
    }
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let written = unsafe bytes.withUnsafeBufferPointer {
        unsafe write(descriptor, $0.baseAddress, $0.count)
      }
      guard written > 0 else {
        throw SpoolError("cannot look for \(name)", reason: SystemError.last.words)
      }
      bytes = bytes.dropFirst(written)
    }
  }

  deinit { close(descriptor) }
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
    for (pair, count) in pairs.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let probability = (Double(count) - Self.discount) / Double(single[pair[0]] ?? 1)
      let spared = Self.discount * Double(kindsAfterPair[pair] ?? 0) / Double(count)
      lines.append(
        "\(logarithm(probability)) \(pair.joined(separator: " ")) \(logarithm(max(spared, 1e-9)))")
    }
    lines += ["", "\\3-grams:"]
    for (triple, count) in triples.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      let before = pairs[Array(triple[..<2])] ?? 1
      let probability = (Double(count) - Self.discount) / Double(before)
      lines.append("\(logarithm(probability)) \(triple.joined(separator: " "))")
    }
    lines += ["", "\\end\\", ""]
    text = lines.joined(separator: "\n")
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
