/// A word that is mainly letters, perhaps with signs, hyphens, dots or digits within.
struct WordSpelling {
  /// The ways, the likeliest first; none where nothing of it is spoken.
  let ways: [[String]]

  /// Reads a word without the punctuation around it.
  init(_ core: String) {
    ways =
      Self.headed(core) ?? Self.tailed(core) ?? AddressSpelling(core).ways ?? Self.compound(core)
      ?? Self.mixed(core) ?? Self.letters(core)
  }

  /// The ways of a part of a word, which may be a number.
  static func part(_ text: some StringProtocol) -> [[String]] {
    let text = String(text)
    return NumberSpelling(text, isScaled: false).ways ?? WordSpelling(text).ways
  }

  // MARK: Signs

  /// `#news`, `@anna`.
  private static func headed(_ word: String) -> [[String]]? {
    guard let sign = word.first, sign == "#" || sign == "@" else { return nil }
    let rest = part(word.dropFirst())
    guard !rest.isEmpty else { return nil }
    return rest.map { [sign == "#" ? "hashtag" : "at"] + $0 } + rest
  }

  /// `C++`, `A+`, `C#`, `B♭m`, `x²`.
  private static func tailed(_ word: String) -> [[String]]? {
    let pluses = word.reversed().prefix { $0 == "+" }.count
    if pluses > 0 {
      let rest = part(word.dropLast(pluses))
      let signs = Array(repeating: "plus", count: pluses)
      return rest.map { $0 + signs } + rest
    }
    if let last = word.last, let power = ["²": "squared", "³": "cubed"][last] {
      let rest = part(word.dropLast())
      return word.count == 2 ? rest.map { $0 + [power] } : rest
    }
    guard let letter = word.first, letter.isLetter, let sign = word.dropFirst().first,
      let name = EnglishSigns.behindLetters[sign]
    else { return nil }
    let rest = word.dropFirst(2)
    let tail = rest == "m" ? [["minor"]] : rest.isEmpty ? [] : part(rest)
    return EnglishSpelling.joined([[[letter.lowercased()] + name], tail])
  }

  // MARK: Parts

  /// Words that hyphens, slashes or signs join: `self-made`, `R&B`, `1+1=2`.
  private static func compound(_ core: String) -> [[String]]? {
    let pieces = AddressSpelling.pieces(of: core) { character in
      !character.isLetter && !character.isNumber && !"'#♯♭°%$€£¥¢".contains(character)
    }
    guard pieces.count > 1 else { return nil }
    var parts: [[[String]]] = []
    for piece in pieces {
      switch piece {
      case .part(let text): parts.append(part(text))
      case .sign(let sign): parts.append(EnglishSigns.within[sign] ?? [])
      }
    }
    return EnglishSpelling.joined(parts)
  }

  /// Letters and digits in one: `MP3`, `x2`, `4x4`.
  private static func mixed(_ core: String) -> [[String]]? {
    let pieces = lettersAndDigits(core)
    guard pieces.count > 1 else { return nil }
    let parts = pieces.map { piece in
      NumberSpelling(piece, isScaled: false).ways
        ?? [isSpelled(piece) ? letterNames(piece) : [piece.lowercased()]]
    }
    let digits = pieces.filter { $0.first?.isNumber == true }
    guard pieces.count - digits.count == 1, let place = pieces.firstIndex(where: { $0 == "x" })
    else { return EnglishSpelling.joined(parts) }
    var others = parts
    others[place] = place == 0 || place == pieces.count - 1 ? [["times"]] : [["by"]]
    return place > 0 && place < pieces.count - 1
      ? EnglishSpelling.joined(others) + EnglishSpelling.joined(parts)
      : EnglishSpelling.joined(parts) + EnglishSpelling.joined(others)
  }

  /// Letters only: capitals are spelled (BBC), spoken (NATO) or count (IV).
  private static func letters(_ core: String) -> [[String]] {
    let word = core.filter { $0.isLetter || $0.isNumber || $0 == "'" }
    let lower = word.lowercased()
    if lower.isEmpty { return [] }
    if let plural = pluralOfCapitals(word) { return [plural, [lower]] }
    guard isCapitals(word), word.count > 1 else { return [[lower]] }
    let spelled = letterNames(word)
    var ways = word.count > 4 && hasVowel(lower) ? [[lower], spelled] : [spelled, [lower]]
    if let number = RomanNumeral(word)?.value {
      ways += [EnglishNumbers.cardinal(number), EnglishNumbers.ordinal(number)].compactMap(\.self)
    }
    return ways
  }

  /// `CDs`, `URLs`.
  private static func pluralOfCapitals(_ word: String) -> [String]? {
    let stem = word.hasSuffix("'s") ? word.dropLast(2) : word.dropLast()
    guard word.hasSuffix("s"), stem.count > 1, isCapitals(String(stem)) else { return nil }
    let names = letterNames(stem)
    return names.dropLast() + [(names.last ?? "") + "'s"]
  }

  // MARK: Letters

  /// The letters of a word, each by its name.
  static func letterNames(_ word: some StringProtocol) -> [String] {
    word.lowercased().filter(\.isLetter).map { String($0) }
  }

  /// Whether it is written in capitals only.
  static func isCapitals(_ word: String) -> Bool {
    word.allSatisfy { $0.isUppercase && $0.isASCII }
  }

  private static func hasVowel(_ lower: String) -> Bool { lower.contains { "aeiouy".contains($0) } }

  /// Whether letters beside digits or dots are said one by one: `MP`, `js`, `www`.
  static func isSpelled(_ piece: String) -> Bool {
    piece.count <= 2 || isCapitals(piece) || piece.count <= 4 && !hasVowel(piece.lowercased())
  }

  /// Parts of letters and parts of digits: `mp`, `3`.
  private static func lettersAndDigits(_ word: String) -> [String] {
    var parts: [String] = []
    for character in word where character.isLetter || character.isNumber || character == "'" {
      if let last = parts.last?.last, last.isNumber == character.isNumber {
        parts[parts.count - 1].append(character)
      } else {
        parts.append(String(character))
      }
    }
    return parts.filter { $0 != "'" }
  }
}
