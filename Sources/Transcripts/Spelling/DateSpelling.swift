/// A date: `12/25/2024`, `2024-12-25`, `25.12.2024`, or the day beside a month's name.
enum DateSpelling {
  /// The variants, likeliest first; nil if the word is no date.
  static func ways(of word: String) -> [[String]]? {
    let parts = word.split(whereSeparator: { "/-.".contains($0) }).map(String.init)
    let signs = Set(word.filter { !$0.isNumber })
    let numbers = parts.compactMap { NumberSpelling.integer($0) }
    guard parts.count == 3, numbers.count == 3, signs.count == 1, word.count < 11 else {
      return nil
    }
    if parts[0].count == 4 {
      return ways(month: numbers[1], day: numbers[2], year: numbers[0], isYearFirst: true)
    }
    guard parts[2].count == 4 || parts[2].count == 2 && signs == ["/"] else { return nil }
    // The month is first in America, the day elsewhere.
    let orders = [(numbers[0], numbers[1]), (numbers[1], numbers[0])].prefix(
      numbers[0] == numbers[1] ? 1 : 2)
    let found = orders.compactMap { month, day in
      ways(month: month, day: day, year: numbers[2], isDayFirst: month == numbers[1])
    }
    return found.isEmpty ? nil : found.flatMap { $0.prefix(6 / found.count) }
  }

  /// `12/25` as a date; nil if it is no day of a year.
  static func day(_ day: Int, ofMonth month: Int) -> [String]? {
    guard (1...12).contains(month), (1...31).contains(day) else { return nil }
    return EnglishNumbers.ordinal(day).map { [months[month - 1]] + $0 }
  }

  /// The variants of a day beside a month's name, `5` in `May 5` and in `5 May`; nil without one.
  ///
  /// - Parameters:
  ///   - core: the word without surrounding punctuation.
  ///   - word: the word with it.
  static func day(_ core: String, in word: String, before: String, after: String) -> [[String]]? {
    let digits = core.prefix(while: \.isNumber)
    guard digits.count < 3, let number = NumberSpelling.integer(digits), (1...31).contains(number),
      let cardinal = EnglishNumbers.cardinal(number), let day = EnglishNumbers.ordinal(number)
    else { return nil }
    let isOrdinal = core.count > digits.count
    guard !isOrdinal || NumberSpelling.ways(of: core) == [day] else { return nil }
    let plain = isOrdinal ? [] : [cardinal]
    if isMonth(before) { return [day] + plain + [["the"] + day] }
    guard isMonth(EnglishSpelling.core(of: after)), word == core else { return nil }
    let withOf = [["the"] + day + ["of"], day + ["of"], day]
    // May is also a verb.
    return after.first?.isUppercase == true ? withOf + plain : plain + withOf
  }

  /// Whether a word is a month or its abbreviation, `Dec.`, `Sept`.
  private static func isMonth(_ word: String) -> Bool {
    let lower = word.lowercased()
    let stem = lower.hasSuffix(".") ? lower.dropLast() : lower[...]
    return months.contains {
      lower == $0 || (3...4).contains(stem.count) && stem.count < $0.count && $0.hasPrefix(stem)
    }
  }

  private static func ways(
    month: Int, day: Int, year: Int, isDayFirst: Bool = false, isYearFirst: Bool = false
  ) -> [[String]]? {
    guard let date = Self.day(day, ofMonth: month), let ordinal = EnglishNumbers.ordinal(day),
      let dayNumber = EnglishNumbers.cardinal(day),
      let monthNumber = EnglishNumbers.cardinal(month),
      let inFull = EnglishNumbers.cardinal(year)
    else { return nil }
    let inPairs = EnglishNumbers.year(year) ?? inFull
    let digits = isDayFirst ? dayNumber + monthNumber : monthNumber + dayNumber
    let ofMonth = ["the"] + ordinal + ["of"] + date.prefix(1)
    let ways = [
      date + inPairs, ofMonth + inPairs, isYearFirst ? inPairs + digits : digits + inPairs,
      date.prefix(1) + dayNumber + inPairs, date + inFull, ofMonth + inFull,
    ]
    return EnglishSpelling.unique(isDayFirst ? [ways[1], ways[0]] + ways[2...] : ways)
  }

  private static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
  ]
}
