import Glibc

/// How words are pronounced: from the model's dictionary where it knows them, by rule elsewhere.
///
/// Keys are lower case, as in cmudict; a word may have several pronunciations.
public struct Lexicon: Sendable {
  /// The pronunciations of each word, the usual one first.
  public private(set) var pronunciations: [String: [[Phone]]]

  /// Looks the words up in a dictionary and leaves the others out.
  ///
  /// Complexity: one reading of the dictionary, about 10 ms for cmudict.
  public init(of words: Set<String>, in path: String) throws(SpeechError) {
    pronunciations = [:]
    guard let file = unsafe fopen(path, "re") else {
      throw SpeechError(.model, on: path, why: unsafe String(cString: strerror(errno)))
    }
    defer { unsafe fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { unsafe free(line) }
    while unsafe getline(&line, &capacity, file) > 0 {
      guard let text = unsafe line.flatMap({ unsafe String(validatingCString: $0) }) else {
        continue
      }
      add(text, wanted: words)
    }
  }

  /// Takes a line of the dictionary where its word is wanted.
  private mutating func add(_ line: String, wanted: Set<String>) {
    let fields = line.utf8.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A })
    guard let head = fields.first, fields.count > 1 else { return }
    let word = String(Substring(head.prefix { $0 != UInt8(ascii: "(") }))
    guard wanted.contains(word) else { return }
    pronunciations[word, default: []].append(
      fields.dropFirst().map { Phone(String(Substring($0))) })
  }

  /// Looks the words up in a model's dictionary, and lets libespeak-ng say how the others are
  /// pronounced. Words that nobody can pronounce are left out.
  public init(of words: Set<String>, model: AcousticModel) throws(SpeechError) {
    try self.init(of: words, in: model.dictionary)
    let unknown = words.filter { pronunciations[$0] == nil }
    guard !unknown.isEmpty else { return }
    let espeak = try Espeak.shared()
    for word in unknown.sorted() {
      let phones = EnglishPhones.phones(ofIPA: try espeak.phonemes(of: word, voice: "en-us"))
      if !phones.isEmpty { add(phones, for: word) }
    }
  }

  /// Adds a pronunciation of a word that the dictionary does not know.
  public mutating func add(_ phones: [Phone], for word: String) {
    pronunciations[word, default: []].append(phones)
  }

  /// The word in those of its ways that can be pronounced.
  func pronounceable(_ word: SpokenWord) -> SpokenWord {
    SpokenWord(ways: word.ways.filter { $0.allSatisfy { pronunciations[$0] != nil } })
  }

  /// The lexicon in the form of cmudict, in the order of its words.
  var dictionaryText: String {
    var text = ""
    for (word, variants) in pronunciations.sorted(by: { $0.key < $1.key }) {
      for (index, phones) in variants.enumerated() {
        text += index == 0 ? word : "\(word)(\(index + 1))"
        for phone in phones { text += " \(phone.name)" }
        text += "\n"
      }
    }
    return text
  }
}
