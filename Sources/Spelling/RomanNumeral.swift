/// A Roman numeral in capitals, of two letters or more.
struct RomanNumeral {
  /// What it counts: 2 to 3999.
  let value: Int

  private static let values: [Character: Int] = [
    "I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000,
  ]

  /// Reads a numeral; nil for any other word, and for one that is not written in the usual way.
  init?(_ word: String) {
    let digits = word.compactMap { Self.values[$0] }
    guard digits.count == word.count, digits.count > 1 else { return nil }
    var total = 0
    for (index, digit) in digits.enumerated() {
      total += index + 1 < digits.count && digits[index + 1] > digit ? -digit : digit
    }
    guard total > 0, Self.written(total) == word else { return nil }
    value = total
  }

  private static func written(_ number: Int) -> String {
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
