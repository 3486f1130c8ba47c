/// English numbers in words.
package enum EnglishNumbers {
  /// Zero to nineteen.
  package static let small = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
    "nineteen",
  ]
  /// Twenty at 2 to ninety at 9; empty below.
  package static let tens = [
    "", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
  ]
  private static let scales = ["", "thousand", "million", "billion", "trillion", "quadrillion"]
  private static let ordinals = [
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
  ]

  /// `1042`: one thousand forty two; nil beyond quadrillions, and below 0.
  package static func cardinal(_ number: Int) -> [String]? {
    guard number >= 0 else { return nil }
    if number == 0 { return [small[0]] }
    var words: [String] = []
    var rest = number
    for scale in scales {
      let group = rest % 1000
      if group > 0 { words = belowThousand(group) + (scale.isEmpty ? [] : [scale]) + words }
      rest /= 1000
      if rest == 0 { return words }
    }
    return nil
  }

  private static func belowThousand(_ number: Int) -> [String] {
    var words: [String] = []
    if number >= 100 { words += [small[number / 100], "hundred"] }
    let rest = number % 100
    if rest == 0 { return words }
    if rest < 20 { return words + [small[rest]] }
    words.append(tens[rest / 10])
    return rest % 10 > 0 ? words + [small[rest % 10]] : words
  }

  /// The British form: one hundred and forty two.
  package static func cardinalWithAnd(_ number: Int) -> [String]? {
    guard let words = cardinal(number), let place = words.lastIndex(of: "hundred"),
      place + 1 < words.count, scales.contains(words[place + 1]) == false
    else { return nil }
    return Array(words[...place]) + ["and"] + words[(place + 1)...]
  }

  /// `42nd`: forty second.
  package static func ordinal(_ number: Int) -> [String]? {
    guard var words = cardinal(number), let last = words.popLast() else { return nil }
    return words + [
      ordinals[last] ?? (last.hasSuffix("y") ? last.dropLast() + "ieth" : last + "th")
    ]
  }

  /// `1984`: nineteen eighty four; nil for numbers that are no years.
  static func year(_ number: Int) -> [String]? {
    guard (1100...2099).contains(number), !(2000...2009).contains(number) else { return nil }
    let century = belowThousand(number / 100)
    let rest = number % 100
    if rest == 0 { return century + ["hundred"] }
    return century + (rest < 10 ? ["oh", small[rest]] : belowThousand(rest))
  }

  /// `747`: seven forty seven, `1080`: ten eighty; nil if not read in pairs.
  static func pairs(_ digits: String) -> [String]? {
    guard let number = NumberSpelling.integer(digits), (101...9999).contains(number),
      number % 100 != 0, number % 1000 >= 10, String(number) == digits
    else { return nil }
    let rest = number % 100
    return belowThousand(number / 100) + (rest < 10 ? ["oh", small[rest]] : belowThousand(rest))
  }

  /// `007`: zero zero seven.
  static func digits(_ text: some StringProtocol, zero: String = "zero") -> [String] {
    text.compactMap(\.wholeNumberValue).filter { $0 < 10 }.map { $0 == 0 ? zero : small[$0] }
  }

  /// `nineteen eighty` in the plural: nineteen eighties.
  static func plural(_ words: [String]) -> [String] {
    guard let last = words.last else { return [] }
    if last == "half" { return words.dropLast() + ["halves"] }
    let ending = last.hasSuffix("y") ? last.dropLast() + "ies" : last + (last == "six" ? "es" : "s")
    return words.dropLast() + [ending]
  }
}
