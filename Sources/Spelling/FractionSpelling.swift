/// A fraction or a proportion: `½`, `3/4`, `1½`, `24/7`, `16:9`.
struct FractionSpelling {
  /// The ways, the likeliest first; nil where the word is none.
  let ways: [[String]]?

  /// Reads a word without the punctuation around it.
  init(_ word: String) { ways = Self.sign(word) ?? Self.slashed(word) ?? Self.ratio(word) }

  private static let signs: [Character: (Int, Int)] = [
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5),
    "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8),
    "⅞": (7, 8),
  ]

  /// `½`, `1½`.
  private static func sign(_ word: String) -> [[String]]? {
    guard let last = word.last, let (count, parts) = signs[last] else { return nil }
    return mixed(word.dropLast(), parted(count, parts))
  }

  /// `3/4`, `1-1/2`, `24/7`.
  private static func slashed(_ word: String) -> [[String]]? {
    let halves = word.split(separator: "/", omittingEmptySubsequences: false)
    guard halves.count == 2, let parts = NumberSpelling.integer(halves[1]) else { return nil }
    let head = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard head.count < 3, let count = head.last.flatMap({ NumberSpelling.integer($0) }),
      let first = EnglishNumbers.cardinal(count), let second = EnglishNumbers.cardinal(parts)
    else { return nil }
    let isUsual =
      count > 0 && count < parts && ((2...10).contains(parts) || [16, 32].contains(parts))
    let fraction = isUsual ? parted(count, parts) : []
    if head.count == 2 { return mixed(head[0], fraction) }
    let plain = [first + second, first + ["over"] + second, first + ["out", "of"] + second]
    let date = isUsual ? nil : DateSpelling.day(parts, ofMonth: count)
    return fraction + plain.prefix(1) + [date].compactMap(\.self) + plain.dropFirst()
  }

  /// A whole number and a fraction.
  private static func mixed(_ whole: some StringProtocol, _ fraction: [[String]]) -> [[String]]? {
    if whole.isEmpty { return fraction }
    guard let number = NumberSpelling.integer(whole), let words = EnglishNumbers.cardinal(number),
      !fraction.isEmpty
    else { return nil }
    // One and a half, rather than one and one half.
    return fraction.sorted { $0.first == "a" && $1.first != "a" }.map { words + ["and"] + $0 }
  }

  private static func parted(_ count: Int, _ parts: Int) -> [[String]] {
    guard let words = EnglishNumbers.cardinal(count), let ordinal = EnglishNumbers.ordinal(parts)
    else { return [] }
    let names = parts == 2 ? [["half"]] : parts == 4 ? [["quarter"], ["fourth"]] : [ordinal]
    guard count > 1 else {
      return names.flatMap { [words + $0, [parts == 8 ? "an" : "a"] + $0] }
        + (parts == 2 ? [["half"]] : [])
    }
    return names.map { words + EnglishNumbers.plural($0) }
  }

  /// `3:1`, `16:9`: what is no time of day.
  private static func ratio(_ word: String) -> [[String]]? {
    let halves = word.split(separator: ":", omittingEmptySubsequences: false)
    guard halves.count == 2, halves[1].count == 1, let first = NumberSpelling.integer(halves[0]),
      let second = NumberSpelling.integer(halves[1]), let from = EnglishNumbers.cardinal(first),
      let to = EnglishNumbers.cardinal(second)
    else { return nil }
    return [from + ["to"] + to, from + to, from + ["by"] + to]
  }
}
