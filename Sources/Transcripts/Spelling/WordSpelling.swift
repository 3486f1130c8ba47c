/// A mainly alphabetic word, perhaps with signs, hyphens, dots or digits.
enum WordSpelling {
  /// The variants of a word without surrounding punctuation, likeliest first.
  static func ways(of core: String) -> [[String]] {
    headed(core) ?? tailed(core) ?? address(core) ?? compound(core) ?? mixed(core)
      ?? letters(core)
  }

  /// The variants of a part of a word, which may be a number.
  static func part(_ text: some StringProtocol) -> [[String]] {
    let text = String(text)
    return NumberSpelling.ways(of: text) ?? WordSpelling.ways(of: text)
  }

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

  /// Words joined by hyphens, slashes or signs: `self-made`, `R&B`, `1+1=2`.
  private static func compound(_ core: String) -> [[String]]? {
    let pieces = Self.pieces(of: core) { character in
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
      NumberSpelling.ways(of: piece)
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

  /// Letters only: capitals are spelled (BBC), spoken (NATO) or Roman numerals (IV).
  private static func letters(_ core: String) -> [[String]] {
    let word = core.filter { $0.isLetter || $0.isNumber || $0 == "'" }
    let lower = word.lowercased()
    if lower.isEmpty { return [] }
    if let plural = pluralOfCapitals(word) { return [plural, [lower]] }
    guard isCapitals(word), word.count > 1 else { return [[lower]] }
    let spelled = letterNames(word)
    var ways = word.count > 4 && hasVowel(lower) ? [[lower], spelled] : [spelled, [lower]]
    if let number = romanNumeral(word) {
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

  /// The letters of a word, each by its name.
  static func letterNames(_ word: some StringProtocol) -> [String] {
    word.lowercased().filter(\.isLetter).map { String($0) }
  }

  /// Whether it is written in capitals only.
  static func isCapitals(_ word: String) -> Bool {
    word.allSatisfy { $0.isUppercase && $0.isASCII }
  }

  private static func hasVowel(_ lower: String) -> Bool { lower.contains { "aeiouy".contains($0) } }

  /// Whether letters beside digits or dots are spelled: `MP`, `js`, `www`.
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

/// Roman numerals in capitals, of two letters or more.
extension WordSpelling {
  private static let romanDigits: [Character: Int] = [
    "I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000,
  ]

  /// Parses a numeral in canonical form, 2 to 3999; nil otherwise.
  private static func romanNumeral(_ word: String) -> Int? {
    let digits = word.compactMap { romanDigits[$0] }
    guard digits.count == word.count, digits.count > 1 else { return nil }
    var total = 0
    for (index, digit) in digits.enumerated() {
      total += index + 1 < digits.count && digits[index + 1] > digit ? -digit : digit
    }
    return total > 0 && romanNumeral(total) == word ? total : nil
  }

  private static func romanNumeral(_ number: Int) -> String {
    let steps = [
      (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
      (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    ]
    var text = ""
    var rest = number
    for (value, letters) in steps {
      while rest >= value {
        text += letters
        rest -= value
      }
    }
    return text
  }
}

/// Addresses and file names, whose dots are spoken: `www.example.com`, `a@b.org`, `192.168.0.1`,
/// `v2.0`.
extension WordSpelling {
  /// A part of an address, or a sign between two parts.
  private enum Piece {
    case part(String)
    case sign(Character)
  }

  private static func address(_ core: String) -> [[String]]? {
    version(core) ?? numbers(core) ?? names(core)
  }

  /// The parts and signs, in order.
  private static func pieces(of word: String, isSign: (Character) -> Bool) -> [Piece] {
    var pieces: [Piece] = []
    for character in word {
      if isSign(character) {
        if !pieces.isEmpty { pieces.append(.sign(character)) }
      } else if case .part(let text)? = pieces.last {
        pieces[pieces.count - 1] = .part(text + String(character))
      } else {
        pieces.append(.part(String(character)))
      }
    }
    while case .sign? = pieces.last { pieces.removeLast() }
    return pieces
  }

  /// `v2.0`.
  private static func version(_ core: String) -> [[String]]? {
    guard let first = core.first, first == "v" || first == "V", core.count > 1,
      core.dropFirst().allSatisfy({ $0.isNumber || $0 == "." }), core.dropFirst().first != "."
    else { return nil }
    let number = WordSpelling.part(core.dropFirst())
    let withO = number.map { $0.map { $0 == "zero" ? "oh" : $0 } }
    let names = core.contains(".") ? ["version", "v"] : ["v", "version"]
    return EnglishSpelling.unique((number + withO).flatMap { way in names.map { [$0] + way } })
  }

  /// `192.168.0.1`, `1.2.3`, `10.0.0.1:8080`.
  private static func numbers(_ core: String) -> [[String]]? {
    let halves = core.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    if halves.count == 2, let address = numbers(halves[0]),
      !halves[1].contains(where: \.isPunctuation),
      let port = EnglishNumbers.pairs(halves[1])
        ?? NumberSpelling.ways(of: halves[1])?.first
    {
      let usual = EnglishSpelling.unique(address).prefix(2)
      return [["colon"], ["port"], []].flatMap { sign in usual.map { $0 + sign + port } }
    }
    let groups = core.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard groups.count > 2, groups.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isNumber) })
    else { return nil }
    let forms: [(String) -> [String]] = [
      { EnglishNumbers.pairs($0) ?? NumberSpelling.ways(of: $0)?.first ?? [] },
      { NumberSpelling.ways(of: $0)?.first ?? [] }, { EnglishNumbers.digits($0) },
    ]
    return forms.flatMap { form in
      ["dot", "point"].map { Array(groups.map(form).joined(separator: [$0])) }
    }
  }

  /// `www.example.com/news`, `anna@example.com`.
  private static func names(_ core: String) -> [[String]]? {
    guard isAddress(core) else { return nil }
    var whole = core[...]
    for scheme in ["https://", "http://"] where core.lowercased().hasPrefix(scheme) {
      whole = core.dropFirst(scheme.count)
    }
    let pieces = pieces(of: String(whole)) { !$0.isLetter && !$0.isNumber && $0 != "'" }
    let spoken = pieces.map { piece -> [String] in
      switch piece {
      case .part(let text): name(text)
      case .sign(let sign): EnglishSigns.inAddresses[sign]?.first ?? []
      }
    }
    let silent = pieces.map { piece -> [String] in
      if case .part(let text) = piece { name(text) } else { [] }
    }
    var ways = [spoken.flatMap(\.self), silent.flatMap(\.self)]
    if whole.count < core.count {
      let scheme = WordSpelling.letterNames(core.prefix { $0 != ":" })
      ways.insert(scheme + ["colon", "slash", "slash"] + ways[0], at: 1)
    }
    return ways
  }

  private static func name(_ text: String) -> [String] {
    let isLetters = text.allSatisfy(\.isLetter)
    return isLetters && text.count > 1 && WordSpelling.isSpelled(text) && !isWord(text)
      ? WordSpelling.letterNames(text) : WordSpelling.part(text).first ?? []
  }

  /// Two letters that are a word, also in an address.
  private static func isWord(_ text: String) -> Bool {
    ["me", "my", "us", "we", "go", "in", "on", "to", "at", "of", "is", "it", "be", "no", "so"]
      .contains(text.lowercased())
  }

  /// Whether dots separate names in it: no number, no abbreviation.
  private static func isAddress(_ core: String) -> Bool {
    if core.contains("@"), !core.hasPrefix("@") { return true }
    guard core.contains(".") else { return core.contains("://") }
    let parts = core.split(separator: ".")
    guard parts.count > 1, parts.contains(where: { $0.contains(where: \.isLetter) }) else {
      return false
    }
    return !core.contains("-") && !parts.allSatisfy { $0.count == 1 && $0.first?.isLetter == true }
      || core.contains("/")
  }
}
