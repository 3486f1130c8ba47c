/// The 39 sounds of cmudict, as the International Phonetic Alphabet writes them for US English.
///
/// Longer spellings come first, because they win: `tʃ` is one sound and not two.
enum EnglishPhones {
  /// The sounds of a pronunciation in IPA; marks of stress and length are passed over where they
  /// change nothing.
  static func phones(ofIPA text: String) -> [Phone] {
    var rest = text.unicodeScalars.filter { !ignored.contains($0) }[...]
    var phones: [Phone] = []
    while !rest.isEmpty {
      if let (spelling, names) = table.first(where: { rest.starts(with: $0.0.unicodeScalars) }) {
        phones += names.split(separator: " ").map { Phone(String($0)) }
        rest = rest.dropFirst(spelling.unicodeScalars.count)
      } else {
        rest = rest.dropFirst()
      }
    }
    return phones
  }

  /// Stress, the joint between sounds, and marks that libespeak-ng adds within words.
  private static let ignored: Set<Unicode.Scalar> = ["ˈ", "ˌ", "_", "|", "‿", "-"]

  private static let table: [(String, String)] = [
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
