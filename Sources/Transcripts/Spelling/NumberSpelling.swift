/// A mainly numeric word and its spoken variants.
enum NumberSpelling {
  /// The variants of a word without surrounding punctuation, likeliest first; nil if it is no number.
  ///
  /// - Parameter isScaled: whether a word such as million follows, which takes the currency.
  static func ways(of word: String, isScaled: Bool = false) -> [[String]]? {
    let forms: [(String) -> [[String]]?] = [
      { signed($0, isScaled) }, fraction, DateSpelling.ways, time, telephone, range,
      { MoneySpelling.ways(of: $0, isScaled: isScaled) }, ordinal, height, plural, measure, number,
    ]
    return forms.lazy.compactMap { $0(word) }.first
  }

  /// `-4`, `#1`, `~20`, `§5`, `18+`.
  private static func signed(_ word: String, _ isScaled: Bool) -> [[String]]? {
    if word.hasSuffix("+"), word.first?.isNumber == true {
      let ways = NumberSpelling.ways(of: String(word.dropLast()), isScaled: isScaled)
      return ways.map { $0.map { $0 + ["plus"] } + $0 }
    }
    guard let first = word.first, let signs = EnglishSigns.beforeNumbers[first],
      let ways = NumberSpelling.ways(of: String(word.dropFirst()), isScaled: isScaled)
    else { return nil }
    return signs.flatMap { sign in ways.map { sign + $0 } }
  }

  /// `1,042`, `3.5`, `2025`, `007`.
  private static func number(_ word: String) -> [[String]]? {
    let halves = word.split(separator: ".", omittingEmptySubsequences: false)
    guard halves.count <= 2, let digits = halves.first, let whole = integer(digits) else {
      if let digits = endless(word) { return [digits] }
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
    // Account numbers are not read as trillions.
    if isLong, digits.count > 11 { return [spelled, spelledWithO] + [cardinal].compactMap(\.self) }
    let pairs = digits.contains(",") ? nil : EnglishNumbers.pairs(String(digits))
    let others = [EnglishNumbers.cardinalWithAnd(whole), hundreds, pairs].compactMap(\.self)
    let first = [year, cardinal].compactMap(\.self)
    return first + others
      + (digits.count > 1 && (isLong || digits.count <= 4) ? [spelled, spelledWithO] : [])
  }

  /// A number too long for a name, digit by digit, at most a thousand; nil otherwise.
  static func endless(_ word: String) -> [String]? {
    isDigits(word) && word.count <= 1000 ? EnglishNumbers.digits(word) : nil
  }

  /// `42nd`.
  private static func ordinal(_ word: String) -> [[String]]? {
    let lower = word.lowercased()
    guard ["st", "nd", "rd", "th"].contains(where: lower.hasSuffix),
      let number = integer(lower.dropLast(2)), let words = EnglishNumbers.ordinal(number)
    else { return nil }
    return [words]
  }

  /// `1990s`, `'90s`, `747s`, `3's`.
  private static func plural(_ word: String) -> [[String]]? {
    guard word.hasSuffix("s"), let number = integer(word.dropLast().filter { $0 != "'" }),
      number > 0
    else { return nil }
    let plurals = (Self.number(String(number)) ?? []).prefix(4).map(EnglishNumbers.plural)
    // `5s`: seconds are likelier than fives; `80s`: the eighties are likelier than seconds.
    guard let seconds = measure(word) else { return Array(plurals) }
    return number % 10 == 0 ? plurals + seconds : seconds + plurals
  }

  /// `5'10"`, without its last sign.
  private static func height(_ word: String) -> [[String]]? {
    let parts = word.split(separator: "'", omittingEmptySubsequences: false)
    guard parts.count == 2, let feet = integer(parts[0]), let inches = integer(parts[1]),
      inches < 12, let first = EnglishNumbers.cardinal(feet),
      let second = EnglishNumbers.cardinal(inches)
    else { return nil }
    return [
      first + second, first + ["foot"] + second, first + ["feet"] + second + ["inches"],
      first + ["foot"] + second + ["inches"],
    ]
  }

  /// `555-1234`, `1-800-555-1234`, `978-3-16-148410-0`: digit by digit.
  private static func telephone(_ word: String) -> [[String]]? {
    let groups = word.split(whereSeparator: { $0 == "-" || $0 == "." })
    let lengths = groups.map(\.count)
    let isTelephone = [[3, 4], [3, 3, 4], [1, 3, 3, 4]].contains(lengths)
    guard groups.allSatisfy({ isDigits($0) }), groups.count > 1,
      isTelephone
        ? word.contains("-") || groups.count > 2
        : groups.count > 2 && !word.contains(".")
    else { return nil }
    let digits = groups.joined()
    let others = isTelephone ? [] : [groups.flatMap { number(String($0))?.first ?? [] }]
    return [EnglishNumbers.digits(digits), EnglishNumbers.digits(digits, zero: "oh")]
      + others + (range(word) ?? [])
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
      let others = [hours + letters, hours + ["o'clock"] + letters]
      return half.isEmpty && numbers[0] > 12
        ? [hours + ["hundred"]] + others + afternoon(numbers[0]) : others + [hours + ["hundred"]]
    }
    let rest = numbers.dropFirst().flatMap { number -> [String] in
      let words = EnglishNumbers.cardinal(number) ?? []
      return number < 10 ? ["oh"] + words : words
    }
    return [hours + rest + letters]
      + (half.isEmpty && numbers.count == 2
        ? afternoon(numbers[0]).prefix(1).map { $0.prefix(1) + rest } : [])
  }

  /// `14` as an hour: two p m, two o'clock; empty in the morning.
  private static func afternoon(_ hour: Int) -> [[String]] {
    guard (13...23).contains(hour) else { return [] }
    return [["p", "m"], ["o'clock"]].map { [EnglishNumbers.small[hour - 12]] + $0 }
  }

  /// `10-20`, `1939-1945`, `9am-5pm`.
  private static func range(_ word: String) -> [[String]]? {
    let parts = word.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, parts.allSatisfy({ $0.first?.isNumber == true }),
      let from = end(parts[0]), let to = end(parts[1])
    else { return nil }
    return [from + ["to"] + to, from + to]
  }

  /// An end of a range.
  private static func end(_ part: String) -> [String]? {
    (time(part) ?? ordinal(part) ?? plural(part) ?? measure(part) ?? number(part))?.first
  }

  /// `5km`, `20%`, `10-20%`, `10k`.
  private static func measure(_ word: String) -> [[String]]? {
    var digits = word.prefix { $0.isNumber && $0 != "²" && $0 != "³" || ".,-/".contains($0) }
    if digits.hasSuffix("/") { digits.removeLast() }  // Of a rate: `5/day`.
    guard !digits.isEmpty, digits.count < word.count,
      let units = EnglishUnits.units(String(word.dropFirst(digits.count))),
      let ways = fraction(String(digits)) ?? range(String(digits))
        ?? number(String(digits))
    else { return nil }
    return units.flatMap { unit in ways.map { $0 + (digits == "1" ? unit.one : unit.many) } }
  }

  private static func isDigits(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
  }

  /// An integer with or without thousands separators; nil otherwise.
  static func integer(_ text: some StringProtocol) -> Int? {
    let groups = text.split(separator: ",", omittingEmptySubsequences: false)
    guard groups.dropFirst().allSatisfy({ $0.count == 3 }), groups.allSatisfy({ isDigits($0) })
    else { return nil }
    return Int(groups.joined())
  }
}

/// Fractions and ratios: `½`, `3/4`, `1½`, `24/7`, `16:9`.
extension NumberSpelling {
  private static func fraction(_ word: String) -> [[String]]? {
    fractionSign(word) ?? slashed(word) ?? ratio(word)
  }

  private static let fractionSigns: [Character: (Int, Int)] = [
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5),
    "⅗": (3, 5), "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8),
    "⅞": (7, 8),
  ]

  /// `½`, `1½`.
  private static func fractionSign(_ word: String) -> [[String]]? {
    guard let last = word.last, let (count, parts) = fractionSigns[last] else { return nil }
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

  /// An integer and a fraction.
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

  /// `3:1`, `16:9`: no time of day.
  private static func ratio(_ word: String) -> [[String]]? {
    let halves = word.split(separator: ":", omittingEmptySubsequences: false)
    guard halves.count == 2, halves[1].count == 1, let first = NumberSpelling.integer(halves[0]),
      let second = NumberSpelling.integer(halves[1]), let from = EnglishNumbers.cardinal(first),
      let to = EnglishNumbers.cardinal(second)
    else { return nil }
    return [from + ["to"] + to, from + to, from + ["by"] + to]
  }
}
