/// How words of an English text are spoken.
///
/// Text is taken as people write it: numbers, money, times, abbreviations, signs, capitals and
/// hyphens. A word that can be spoken in several ways has all of them.
public struct EnglishSpelling: Sendable {
  /// Ready at once.
  public init() {}

  /// How each word of a text is spoken, in order: as many as there are words.
  ///
  /// - Parameter words: the words as they are written, with the punctuation that touches them.
  public func spoken(_ words: [String]) -> [SpokenWord] {
    words.indices.map { index in
      let before = index > 0 ? words[index - 1] : ""
      let after = index + 1 < words.count ? words[index + 1] : ""
      return SpokenWord(ways: Self.unique(ways(of: words[index], before: before, after: after)))
    }
  }

  private static func unique(_ ways: [[String]]) -> [[String]] {
    var seen: Set<[String]> = []
    return ways.filter { !$0.isEmpty && seen.insert($0).inserted }
  }

  /// The ways of a word between its neighbours.
  private func ways(of written: String, before: String, after: String) -> [[String]] {
    let word = Self.plain(written)
    let core = Self.core(of: word)
    guard !core.isEmpty else {
      return word.count == 1 ? word.first.flatMap { EnglishAbbreviations.signs[$0] } ?? [] : []
    }
    let lower = core.lowercased()
    if EnglishAbbreviations.magnitudes.contains(lower), let sign = Self.currency(of: before) {
      return [[lower, sign.many], [lower]]
    }
    if let unit = EnglishAbbreviations.units[lower], before.last?.isNumber == true {
      return [unit.many, unit.one, [lower]]
    }
    if let ways = abbreviated(lower, word, after: after) { return ways }
    if let ways = NumberSpelling(core, isScaled: Self.isMagnitude(after)).ways { return ways }
    return wordWays(core)
  }

  /// Written short: with a full stop, or known without one.
  private func abbreviated(_ lower: String, _ word: String, after: String) -> [[String]]? {
    guard let ways = EnglishAbbreviations.words[lower] else { return nil }
    let hasStop = word.contains(".")
    if lower == "no" { return hasStop && after.first?.isNumber == true ? ways : nil }
    let needsStop: Set<String> = [
      "co", "ed", "fig", "gen", "col", "rep", "rev", "sen", "hon", "mon", "sat", "sun", "wed",
      "dec", "mt", "st", "inc", "fri", "ave",
    ]
    return !needsStop.contains(lower) || hasStop ? ways + (hasStop ? [] : [[lower]]) : nil
  }

  /// A word of letters, perhaps with hyphens, dots or digits within.
  private func wordWays(_ core: String) -> [[String]] {
    let parts = core.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "'" })
      .map(String.init)
    if parts.count > 1 { return compound(parts, core) }
    let pieces = Self.lettersAndDigits(core)
    if pieces.count > 1 {
      return [
        pieces.flatMap { piece in
          NumberSpelling(piece, isScaled: false).ways?.first ?? letters(or: piece)
        }
      ]
    }
    let lower = core.lowercased()
    guard Self.isCapitals(core) else { return [[lower]] }
    // Capitals are spelled (BBC), spoken (NATO) or count (IV).
    var ways = [Self.letters(core), [lower]]
    if let number = RomanNumeral(core)?.value {
      ways += [EnglishNumbers.cardinal(number), EnglishNumbers.ordinal(number)].compactMap(\.self)
    }
    return core.count == 1 ? [[lower]] : ways
  }

  /// Words that hyphens, dots or slashes join.
  private func compound(_ parts: [String], _ core: String) -> [[String]] {
    if parts.allSatisfy({ $0.count == 1 && $0.first?.isLetter == true }) {
      return [parts.map { $0.lowercased() }]
    }
    let isAddress = core.contains("@") || (core.contains(".") && !core.contains("-"))
    guard isAddress else { return [parts.flatMap { spokenParts($0) }] }
    var words: [String] = []
    var rest = core[...]
    while !rest.isEmpty {
      let part = rest.prefix { $0.isLetter || $0.isNumber || $0 == "'" }
      if !part.isEmpty { words += spokenParts(String(part)) }
      rest = rest.dropFirst(part.count)
      if let sign = rest.popFirst(), !rest.isEmpty { words += Self.addressSigns[sign] ?? [] }
    }
    return [words, parts.flatMap { spokenParts($0) }]
  }

  private static let addressSigns: [Character: [String]] = [
    ".": ["dot"], "@": ["at"], "/": ["slash"], ":": ["colon"], "-": ["dash"],
    "_": ["underscore"],
  ]

  private func spokenParts(_ part: String) -> [String] {
    NumberSpelling(part, isScaled: false).ways?.first ?? wordWays(part).first ?? []
  }

  private func letters(or piece: String) -> [String] {
    piece.count <= 2 || Self.isCapitals(piece) ? Self.letters(piece) : [piece.lowercased()]
  }
}
