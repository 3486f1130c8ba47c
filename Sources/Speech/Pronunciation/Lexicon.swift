import Platform
package import Transcripts

/// How words are pronounced: from the model's dictionary where it knows them, by rule elsewhere.
///
/// Keys are lower case, as in cmudict; a word may have several pronunciations.
struct Lexicon: Sendable {
  /// The pronunciations of each word, the usual one first: lists of the acoustic model's sounds, `AH`,
  /// `B`, `CH`.
  private(set) var pronunciations: [String: [[String]]]

  /// Looks the words up in a dictionary and leaves the others out.
  ///
  /// Complexity: one reading of the dictionary, about 10 ms for cmudict.
  init(of words: Set<String>, in path: String) throws(SpoolError) {
    pronunciations = [:]
    var rest: ArraySlice<UInt8>
    let limit = AcousticModel.longestDictionary
    do throws(SystemError) {
      rest = try FileOperations.system.bytes(following: path, limit: limit)[...]
    } catch {
      throw .acousticModel(path, error.words)
    }
    guard rest.count <= limit else { throw AcousticModel.tooLong(path) }
    while !rest.isEmpty {
      let line = rest.prefix { $0 != 0x0A }
      rest = rest[line.endIndex...].dropFirst()
      let head = line.drop { $0 == 0x20 || $0 == 0x09 }.prefix {
        $0 != 0x20 && $0 != 0x09 && $0 != UInt8(ascii: "(")
      }
      guard let word = String(validating: head, as: UTF8.self), words.contains(word) else {
        continue
      }
      let phones = line.split { $0 == 0x20 || $0 == 0x09 }.dropFirst()
        .compactMap { String(validating: $0, as: UTF8.self) }
      if !phones.isEmpty { pronunciations[word, default: []].append(phones) }
    }
  }

  /// Looks the words up in a model's dictionary, and lets libespeak-ng say how the others are
  /// pronounced. Words without a pronunciation are left out.
  init(of words: Set<String>, model: AcousticModel) throws(SpoolError) {
    try self.init(of: words, in: model.dictionary)
    let unknown = words.filter { pronunciations[$0] == nil }
    guard !unknown.isEmpty else { return }
    let espeak = try Espeak.shared()
    for word in unknown.sorted() {
      let phones = Self.phones(ofIPA: try espeak.phonemes(of: word, voice: "en-us"))
      if !phones.isEmpty { pronunciations[word, default: []].append(phones) }
    }
  }

  /// The word in those of its variants that can be pronounced.
  func pronounceable(_ word: SpokenWord) -> SpokenWord {
    SpokenWord(variants: word.variants.filter { $0.allSatisfy { pronunciations[$0] != nil } })
  }

  /// The lexicon in the form of cmudict, in the order of its words.
  var dictionaryText: String {
    var text = ""
    for (word, variants) in pronunciations.sorted(by: { $0.key < $1.key }) {
      for (index, phones) in variants.enumerated() {
        text += index == 0 ? word : "\(word)(\(index + 1))"
        for phone in phones { text += " \(phone)" }
        text += "\n"
      }
    }
    return text
  }
}

/// The 39 sounds of cmudict, as the International Phonetic Alphabet writes them for US English.
///
/// Longer spellings come first, because they win: `tʃ` is one sound and not two.
extension Lexicon {
  /// The sounds of a pronunciation in IPA; marks of stress and length are passed over where they
  /// change nothing.
  private static func phones(ofIPA text: String) -> [String] {
    var rest = text.unicodeScalars.filter { !ignoredMarks.contains($0) }[...]
    var phones: [String] = []
    while !rest.isEmpty {
      if let (spelling, names) = phonesOfIPA.first(where: { rest.starts(with: $0.0.unicodeScalars) }
      ) {
        phones += names.split(separator: " ").map(String.init)
        rest = rest.dropFirst(spelling.unicodeScalars.count)
      } else {
        rest = rest.dropFirst()
      }
    }
    return phones
  }

  /// Stress, the joint between sounds, and marks that libespeak-ng adds within words.
  private static let ignoredMarks: Set<Unicode.Scalar> = ["ˈ", "ˌ", "_", "|", "‿", "-"]

  private static let phonesOfIPA: [(String, String)] = [
    ("aɪɚ", "AY ER"), ("aɪə", "AY AH"), ("aʊɚ", "AW ER"), ("aʊə", "AW AH"),
    ("ɔːɹ", "AO R"), ("oːɹ", "AO R"), ("ɑːɹ", "AA R"), ("ɛɹ", "EH R"), ("eə", "EH R"),
    ("ɪɹ", "IH R"), ("ɪə", "IH R"), ("iə", "IY AH"), ("ʊɹ", "UH R"), ("ʊə", "UH R"),
    ("əl", "AH L"), ("n̩", "AH N"), ("l̩", "AH L"), ("m̩", "AH M"),
    ("tʃ", "CH"), ("dʒ", "JH"), ("aʊ", "AW"), ("aɪ", "AY"), ("eɪ", "EY"), ("oʊ", "OW"),
    ("əʊ", "OW"), ("ɔɪ", "OY"), ("iː", "IY"), ("uː", "UW"), ("ɑː", "AA"), ("ɔː", "AO"),
    ("oː", "AO"), ("ɜː", "ER"), ("ɔ̃", "AO N"), ("ɑ̃", "AA N"), ("æ̃", "AE N"), ("ɛ̃", "EH N"),
    ("æ", "AE"), ("ʌ", "AH"), ("ə", "AH"), ("ɐ", "AH"), ("ɑ", "AA"), ("ɒ", "AA"), ("a", "AE"),
    ("ɔ", "AO"), ("o", "OW"), ("ɛ", "EH"), ("e", "EH"), ("ɝ", "ER"), ("ɚ", "ER"), ("ɜ", "ER"),
    ("ɪ", "IH"), ("ᵻ", "IH"), ("i", "IY"), ("ʊ", "UH"), ("u", "UW"), ("y", "UW"), ("ø", "ER"),
    ("b", "B"), ("d", "D"), ("ð", "DH"), ("f", "F"), ("ɡ", "G"), ("g", "G"), ("h", "HH"),
    ("ç", "HH"), ("j", "Y"), ("k", "K"), ("x", "K"), ("q", "K"), ("l", "L"), ("ɫ", "L"),
    ("ɬ", "L"), ("ʎ", "L Y"), ("m", "M"), ("n", "N"), ("ɲ", "N Y"), ("ŋ", "NG"), ("p", "P"),
    ("ɹ", "R"), ("r", "R"), ("ʁ", "R"), ("s", "S"), ("ʃ", "SH"), ("t", "T"), ("ɾ", "T"),
    ("ʔ", "T"), ("θ", "TH"), ("v", "V"), ("β", "V"), ("w", "W"), ("ʍ", "W"), ("z", "Z"),
    ("ʒ", "ZH"),
  ]
}

/// How one written word is spoken: as one word, as several, or in one of several variants.
///
/// `2025` is `twenty twenty five` or `two thousand twenty five`; a dash is not spoken at all.
package struct SpokenWord: Hashable, Sendable {
  /// The variants, the likeliest first; each is a list of keys of the lexicon. Empty where it is
  /// not spoken.
  package let variants: [[String]]

  /// A word that may be spoken in these variants.
  package init(variants: [[String]]) { self.variants = variants.filter { !$0.isEmpty } }

  /// A word that is spoken in one variant, as one word.
  package init(_ key: String) { variants = [[key]] }

  /// Whether anything is heard of it.
  package var isSpoken: Bool { !variants.isEmpty }
}

extension EnglishSpelling {
  /// How each word of a text is spoken, in order: as many as there are words.
  ///
  /// - Parameter words: the words as they are written, with the punctuation that touches them.
  package func spoken(_ words: [String]) -> [SpokenWord] {
    ways(of: words).map { SpokenWord(variants: $0) }
  }
}
