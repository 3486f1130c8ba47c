internal import Spelling

/// A number that English words begin with, as digits: what one transcript writes as 25, another has as
/// twenty five.
struct SpokenNumber {
  /// As it is compared, one token: `25`, `2025`, `3point14` for decimals, `25th`, `1990s`.
  let digits: String
  /// How many words it takes.
  let count: Int

  /// Reads the longest number below a million that words in small letters begin with; nil where they
  /// begin with none. Two numbers below 100 are one if they are said like a year, a time or a room:
  /// "twenty twenty five", "ten oh five". O(1).
  init?(_ words: ArraySlice<String>) {
    var reader = Reader(rest: words)
    guard let digits = reader.number() else { return nil }
    (self.digits, count) = (digits, words.count - reader.rest.count)
  }

  /// Whether a word may be one of a number.
  static func mayContain(_ word: String) -> Bool {
    values[word] != nil || ordinals[word] != nil || decades[word] != nil || joints.contains(word)
  }

  private static let joints: Set = ["hundred", "thousand", "and", "oh", "point"]
  private static let values = Dictionary(
    uniqueKeysWithValues: Array(EnglishNumbers.small.enumerated().map { ($1, $0) })
      + EnglishNumbers.tens.enumerated().dropFirst(2).map { ($1, 10 * $0) })
  private static let ordinals = Dictionary(
    uniqueKeysWithValues: values.values.compactMap { value in
      EnglishNumbers.ordinal(value)?.last.map { ($0, value) }
    })
  private static let decades = Dictionary(
    uniqueKeysWithValues: EnglishNumbers.tens.enumerated().dropFirst(2).map {
      (String($1.dropLast()) + "ies", 10 * $0)
    })

  private struct Reader {
    var rest: ArraySlice<String>

    mutating func number() -> String? {
      guard let first = group() else { return nil }
      if let pair = pair(first) { return pair }
      var number = first
      if first < 1000, skip("thousand") {
        number *= 1000
        let before = rest
        _ = skip("and")
        if let low = group(), low > 0, low < 1000, rest.first != "thousand" {
          number += low
        } else {
          rest = before
        }
      }
      if let ordinal = rest.first.flatMap({ ordinals[$0] }), ordinal > 0,
        number % 100 == 0 || ordinal < 10 && number % 10 == 0 && number % 100 > 10, number > 0
      {
        rest.removeFirst()
        return "\(number + ordinal)th"
      }
      return "\(number)\(fraction())"
    }

    /// A number with hundreds: "one hundred and five", "nineteen hundred".
    private mutating func group() -> Int? {
      guard let first = belowHundred() else { return nil }
      guard first > 0, skip("hundred") else { return first }
      let before = rest
      _ = skip("and")
      if let low = belowHundred(), low > 0, rest.first != "hundred" { return 100 * first + low }
      rest = before
      return 100 * first
    }

    private mutating func belowHundred() -> Int? {
      guard let first = rest.first.flatMap({ values[$0] }) else { return nil }
      rest.removeFirst()
      guard first >= 20, let one = rest.first.flatMap({ values[$0] }), (1...9).contains(one) else {
        return first
      }
      rest.removeFirst()
      return first + one
    }

    /// What is said in two parts: "nineteen eighty four", "nineteen oh five", "nineteen nineties".
    private mutating func pair(_ first: Int) -> String? {
      guard (1...99).contains(first) else { return nil }
      let before = rest
      if first >= 10, let decade = rest.first.flatMap({ decades[$0] }) {
        rest.removeFirst()
        return "\(100 * first + decade)s"
      }
      let hasZero = skip("oh")
      if let second = belowHundred(), hasZero ? (1...9).contains(second) : second >= 10 {
        // Of three in a row, the last two belong together: a day, and a year.
        let isFollowed = rest.first.flatMap { values[$0] }.map { $0 >= 10 } ?? false
        if !isFollowed, rest.first != "hundred", rest.first != "thousand" {
          return "\(100 * first + second)"
        }
      }
      rest = before
      return nil
    }

    /// What follows the point, digit by digit; empty where nothing does.
    private mutating func fraction() -> String {
      let before = rest
      var digits = ""
      guard skip("point") else { return digits }
      while let word = rest.first, let digit = word == "oh" ? 0 : values[word], digit < 10 {
        digits += "\(digit)"
        rest.removeFirst()
      }
      if digits.isEmpty { rest = before }
      return digits.isEmpty ? "" : "point\(digits)"
    }

    private mutating func skip(_ word: String) -> Bool {
      guard rest.first == word else { return false }
      rest.removeFirst()
      return true
    }
  }
}
