/// A sum of money: `$3.50`, `€20`, `$1.5M`, `$5–10`, `£8/hr`.
enum MoneySpelling {
  /// A currency's singular, plural, and hundredth.
  typealias Currency = (one: String, many: String, hundredth: String)

  /// The variants of a word without surrounding punctuation, likeliest first; nil if it is no sum.
  ///
  /// - Parameter isScaled: whether a word such as million follows, which takes the currency.
  static func ways(of word: String, isScaled: Bool) -> [[String]]? {
    currency(of: word).flatMap { rate(word) ?? range(word, $0) ?? sum(word, $0, isScaled) }
  }

  /// The currency of a sum; nil if the word is none.
  static func currency(of word: String) -> Currency? {
    guard let sign = word.first(where: { currencies[$0] != nil }), word.contains(where: \.isNumber)
    else { return nil }
    return currencies[sign]
  }

  private static let currencies: [Character: Currency] = [
    "$": ("dollar", "dollars", "cents"), "€": ("euro", "euros", "cents"),
    "£": ("pound", "pounds", "pence"), "¥": ("yen", "yen", "sen"),
    "₹": ("rupee", "rupees", "paise"), "₽": ("ruble", "rubles", "kopecks"),
    "₩": ("won", "won", "jeon"), "₿": ("bitcoin", "bitcoins", "cents"),
  ]

  /// `£8/hr`.
  private static func rate(_ word: String) -> [[String]]? {
    let parts = word.split(separator: "/")
    guard parts.count == 2, let sum = MoneySpelling.ways(of: String(parts[0]), isScaled: false)
    else {
      return nil
    }
    let name = EnglishUnits.period(parts[1]) ?? WordSpelling.part(parts[1]).first ?? []
    return sum.prefix(2).flatMap { EnglishUnits.rate(($0, $0), per: name).map(\.many) }
  }

  /// `$5-10`, `$5–$10`.
  private static func range(_ word: String, _ currency: Currency) -> [[String]]? {
    let parts = word.split(separator: "-", omittingEmptySubsequences: false)
      .map { amount in String(amount.filter { currencies[$0] == nil }) }
    guard parts.count == 2, let from = NumberSpelling.ways(of: parts[0])?.first,
      let to = NumberSpelling.ways(of: parts[1])?.first
    else { return nil }
    return [
      from + ["to"] + to + [currency.many], from + [currency.many, "to"] + to + [currency.many],
      from + to + [currency.many],
    ]
  }

  private static func sum(_ word: String, _ currency: Currency, _ isScaled: Bool) -> [[String]]? {
    guard !word.hasPrefix("-") else {
      return sum(String(word.dropFirst()), currency, isScaled).map { $0.map { ["minus"] + $0 } }
    }
    let amount = String(word.filter { $0.isNumber || $0 == "." || $0 == "," })
    let tail = word.filter { $0.isLetter }
    if let magnitude = EnglishUnits.magnitude(tail), !word.hasPrefix(tail) {
      return NumberSpelling.ways(of: amount).map { ways in
        ways.flatMap { [$0 + [magnitude, currency.many], $0 + [magnitude]] }
      }
    }
    let halves = amount.split(separator: ".")
    guard let whole = halves.first.flatMap({ NumberSpelling.integer($0) }),
      let words = EnglishNumbers.cardinal(whole)
    else { return nil }
    if isScaled { return NumberSpelling.ways(of: amount) }
    let name = whole == 1 ? currency.one : currency.many
    guard halves.count == 2, halves[1].count == 2, let rest = NumberSpelling.integer(halves[1]),
      rest > 0, let cents = EnglishNumbers.cardinal(rest)
    else {
      return halves.count == 2 && halves[1] != "00"
        ? NumberSpelling.ways(of: amount).map { $0.map { $0 + [currency.many] } }
        : [words + [name], words]
    }
    let ways = [
      words + [name, "and"] + cents + [currency.hundredth], words + [name] + cents,
      words + cents, words + [name] + cents + [currency.hundredth],
    ]
    return whole == 0 ? [cents + [currency.hundredth]] + ways : ways
  }
}
