/// A word that is mainly a number, and the ways in which it is spoken.
struct NumberSpelling {
  /// The ways, the likeliest first; nil where the word is no number.
  let ways: [[String]]?

  /// Reads a word without the punctuation around it.
  ///
  /// - Parameter isScaled: whether a word such as million follows, which takes the currency.
  init(_ word: String, isScaled: Bool) {
    ways =
      Self.time(word) ?? Self.range(word) ?? Self.money(word, isScaled: isScaled)
      ?? Self.ordinal(word) ?? Self.decade(word) ?? Self.measure(word) ?? Self.number(word)
  }

  /// `1,042`, `3.5`, `2025`, `-4`, `007`.
  private static func number(_ word: String) -> [[String]]? {
    if word.hasPrefix("-") || word.hasPrefix("+") {
      let sign = word.hasPrefix("-") ? [["minus"], ["negative"]] : [["plus"]]
      return number(String(word.dropFirst())).map { ways in
        sign.flatMap { sign in ways.map { sign + $0 } }
      }
    }
    if word.hasPrefix("#") {
      return number(String(word.dropFirst())).map { $0.map { ["number"] + $0 } }
    }
    let halves = word.split(separator: ".", omittingEmptySubsequences: false)
    guard halves.count <= 2, let digits = halves.first, let whole = integer(digits) else {
      return halves.count == 2 && halves[0].isEmpty && isDigits(halves[1])
        ? [["point"] + EnglishNumbers.digits(halves[1])] : nil
    }
    if halves.count == 2 {
      guard isDigits(halves[1]), let words = EnglishNumbers.cardinal(whole) else { return nil }
      return [words + ["point"] + EnglishNumbers.digits(halves[1])]
    }
    let spelled = EnglishNumbers.digits(digits)
    let spelledWithO = EnglishNumbers.digits(digits, zero: "oh")
    if digits.count > 1 && digits.hasPrefix("0") { return [spelled, spelledWithO] }
    let cardinal = EnglishNumbers.cardinal(whole)
    let year = digits.contains(",") ? nil : EnglishNumbers.year(whole)
    let hundreds =
      whole % 100 == 0 && (1100...9900).contains(whole) && whole % 1000 != 0
      ? EnglishNumbers.cardinal(whole / 100).map { $0 + ["hundred"] } : nil
    let isLong = digits.count > 4 && !digits.contains(",")
    let others = [EnglishNumbers.cardinalWithAnd(whole), hundreds].compactMap(\.self)
    let first = [year, cardinal].compactMap(\.self)
    return first + others
      + (digits.count > 1 && digits.count < 12 && (isLong || digits.count <= 4)
        ? [spelled, spelledWithO] : [])
  }

  /// `42nd`.
  private static func ordinal(_ word: String) -> [[String]]? {
    let lower = word.lowercased()
    guard ["st", "nd", "rd", "th"].contains(where: lower.hasSuffix),
      let number = integer(lower.dropLast(2)), let words = EnglishNumbers.ordinal(number)
    else { return nil }
    return [words]
  }

  /// `1990s`, `'90s`.
  private static func decade(_ word: String) -> [[String]]? {
    guard word.hasSuffix("s"), let number = integer(word.dropLast().filter { $0 != "'" }),
      number % 10 == 0, number > 0
    else { return nil }
    return [EnglishNumbers.year(number), EnglishNumbers.cardinal(number)].compactMap(\.self)
      .map(EnglishNumbers.plural)
  }

  /// `10:30`, `7:05:12`.
  private static func time(_ word: String) -> [[String]]? {
    let lower = word.lowercased()
    let half = lower.hasSuffix("am") || lower.hasSuffix("pm") ? String(lower.suffix(2)) : ""
    let parts = lower.dropLast(half.count).split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 3 else { return nil }
    let numbers = parts.compactMap { integer($0) }
    guard numbers.count == parts.count, numbers.dropFirst().allSatisfy({ $0 < 60 }),
      let hours = EnglishNumbers.cardinal(numbers[0])
    else { return nil }
    let letters = half.map { String($0) }
    if numbers.count == 2 && numbers[1] == 0 {
      return [hours + letters, hours + ["o'clock"] + letters, hours + ["hundred"]]
    }
    let rest = numbers.dropFirst().flatMap { number -> [String] in
      let words = EnglishNumbers.cardinal(number) ?? []
      return number < 10 ? ["oh"] + words : words
    }
    return [hours + rest + letters]
  }

  /// `10-20`, `1939-1945`.
  private static func range(_ word: String) -> [[String]]? {
    let parts = word.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, integer(parts[0]) != nil, integer(parts[1]) != nil,
      let from = number(String(parts[0]))?.first, let to = number(String(parts[1]))?.first
    else { return nil }
    return [from + ["to"] + to, from + to]
  }

  /// `$3.50`, `€20`.
  private static func money(_ word: String, isScaled: Bool) -> [[String]]? {
    guard let currency = EnglishSpelling.currency(of: word) else { return nil }
    let digits = word.filter { $0.isNumber || $0 == "." || $0 == "," }
    let halves = digits.split(separator: ".")
    guard let whole = halves.first.flatMap({ integer($0) }),
      let words = EnglishNumbers.cardinal(whole)
    else { return nil }
    if isScaled { return number(digits) }
    let name = whole == 1 ? currency.one : currency.many
    guard halves.count == 2, halves[1].count == 2, let rest = integer(halves[1]), rest > 0,
      let cents = EnglishNumbers.cardinal(rest)
    else {
      return halves.count == 2 && halves[1] != "00"
        ? number(digits).map { $0.map { $0 + [currency.many] } } : [words + [name], words]
    }
    return [
      words + [name, "and"] + cents + [currency.hundredth], words + [name] + cents,
      words + cents, words + [name] + cents + [currency.hundredth],
    ]
  }

  /// `5km`, `20%`.
  private static func measure(_ word: String) -> [[String]]? {
    let digits = word.prefix { $0.isNumber || $0 == "." || $0 == "," || $0 == "-" }
    guard !digits.isEmpty, digits.count < word.count,
      let unit = EnglishAbbreviations.units[word.dropFirst(digits.count).lowercased()],
      let ways = number(String(digits))
    else { return nil }
    return ways.map { $0 + (digits == "1" ? unit.one : unit.many) }
  }

  private static func isDigits(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// A whole number, with commas between its thousands or without; nil for anything else.
  private static func integer(_ text: some StringProtocol) -> Int? {
    let groups = text.split(separator: ",", omittingEmptySubsequences: false)
    guard groups.dropFirst().allSatisfy({ $0.count == 3 }), groups.allSatisfy({ isDigits($0) })
    else { return nil }
    return Int(groups.joined())
  }
}
