/// How words of an English text are spoken.
///
/// Text is taken as people write it: numbers, money, times, abbreviations, signs, capitals, addresses
/// and hyphens. A word that can be spoken in several ways has all of them.
public struct EnglishSpelling: Sendable {
  /// Ready at once.
  public init() {}

  /// The ways in which each word of a text is spoken, in order: as many as there are words. A way is a
  /// list of words in small letters; the likeliest is the first, and a word that nobody speaks has none.
  ///
  /// - Parameter words: the words as they are written, with the punctuation that touches them.
  public func ways(of words: [String]) -> [[[String]]] {
    let capitals = CapitalWords(words)
    return words.indices.map { index in
      let before = index > 0 ? words[index - 1] : ""
      let after = index + 1 < words.count ? words[index + 1] : ""
      let written = ways(of: words[index], before: before, after: after)
      guard let lowered = capitals.lowered[index] else { return Self.unique(written) }
      let word = ways(of: lowered, before: before, after: after)
      return Self.unique(lowered.count > Self.longestSpelled ? word : word + written)
    }
  }

  /// Among words in capitals nobody spells longer ones, with the punctuation that touches them.
  private static let longestSpelled = 6

  /// What is longer, in bytes, is no number and no address that anybody speaks.
  private static let longest = 256

  /// The ways of a word between its neighbours.
  private func ways(of written: String, before: String, after: String) -> [[String]] {
    let word = Self.plain(written)
    if let ways = EnglishAbbreviations.shorthand(word) { return ways }
    let core = Self.core(of: word)
    guard !core.isEmpty else {
      return word.count == 1 ? word.first.flatMap { EnglishSigns.alone[$0] } ?? [] : []
    }
    let lower = core.lowercased()
    guard core.utf8.count <= Self.longest else {
      return lower.contains(where: \.isLetter)
        ? [[lower.filter(\.isLetter)]] : NumberSpelling.endless(core).map { [$0] } ?? []
    }
    if EnglishUnits.magnitudes.contains(lower), let money = MoneySpelling.currency(of: before) {
      return [[lower, money.many], [lower]]
    }
    if before.last?.isNumber == true, let units = EnglishUnits.units(core) {
      return units.map(\.many) + units.map(\.one)
        + (lower.allSatisfy(\.isLetter) ? [[lower]] : [])
    }
    if core.contains(where: { "/°²³".contains($0) }), let units = EnglishUnits.units(core) {
      return units.map(\.many) + units.map(\.one) + WordSpelling(core).ways.prefix(2)
    }
    if let ways = DateSpelling.day(core, in: word, before: before, after: after) { return ways }
    if let ways = EnglishAbbreviations.ways(of: lower, in: word, after: after) { return ways }
    let ways =
      NumberSpelling(core, isScaled: EnglishUnits.isMagnitude(after)).ways
      ?? WordSpelling(core).ways
    // `.NET` is spoken with its dot, `...and` without.
    let isDotted = word.hasPrefix("." + core) && core.first?.isLetter == true
    return isDotted ? ways.map { ["dot"] + $0 } + ways : ways
  }

  /// The ways without those that are empty or there already.
  static func unique(_ ways: [[String]]) -> [[String]] {
    var seen: Set<[String]> = []
    return ways.filter { !$0.isEmpty && seen.insert($0).inserted }
  }

  /// The ways of parts that are spoken one after the other: the likeliest of each, then each with one
  /// part spoken otherwise, eight at most.
  static func joined(_ parts: [[[String]]]) -> [[String]] {
    let parts = parts.filter { !$0.isEmpty }
    var ways = [parts.flatMap { $0[0] }]
    for (index, part) in parts.enumerated() {
      for other in part.dropFirst() {
        ways.append(
          parts[..<index].flatMap { $0[0] } + other + parts[(index + 1)...].flatMap { $0[0] })
      }
    }
    return Array(unique(ways).prefix(8))
  }
}
