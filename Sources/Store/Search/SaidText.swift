import Transcripts

/// Text as the index compares what is said: signs and abbreviations in English words, and every whole
/// number as one token of digits, so that 20 is no part of twenty three.
enum SaidText {
  /// Each word as it is compared, as many as there are words; empty where nobody says it. A number of
  /// several words stands in the first of them, and the others are empty. O(n).
  /// - Parameters:
  ///   - written: the words as they are written.
  ///   - isEnglish: whether all is English. Of another language only what has digits or signs is told
  ///     as an English text would have it: a query for `20 %` finds it there, too.
  static func words(of written: [String], isEnglish: Bool) -> [String] {
    let said = EnglishSpelling().said(written)
    if isEnglish { return withDigits(said, written) }
    return zip(written, said).map { word, said in
      let isShort = hasSign(word) || word.contains(where: \.isNumber)
      return isShort ? withDigits([said], [word])[0] : word
    }
  }

  /// The ways in which a text may be said, each as one text, the likeliest first.
  static func readings(of written: [String]) -> [String] {
    EnglishSpelling().readings(of: written).map { withDigits($0, written).joined(separator: " ") }
  }

  /// Whether there is a sign in it that is said, and that no token holds: `C++` is not `C`. O(n).
  static func hasSign(_ text: String) -> Bool {
    text.unicodeScalars.contains { scalar in
      switch scalar.properties.generalCategory {
      case .mathSymbol, .currencySymbol, .otherSymbol: true
      default: "%&#@§‰".unicodeScalars.contains(scalar)
      }
    }
  }

  private static func withDigits(_ said: [String], _ written: [String]) -> [String] {
    var result = said
    var row: [(word: Int, part: String)] = []
    func endRow() {
      defer { row = [] }
      guard !row.isEmpty else { return }
      for (word, _) in row { result[word] = "" }
      let parts = row.map(\.part)
      var index = 0
      while index < parts.count {
        let number = SpokenNumber(parts[index...])
        let word = row[index].word
        result[word] += (result[word].isEmpty ? "" : " ") + (number?.digits ?? parts[index])
        index += number?.count ?? 1
      }
    }
    for (index, text) in said.enumerated() {
      let word = written[index]
      let parts = text.lowercased().split(separator: " ")
        .map { String($0.trimming { $0.isPunctuation }) }
      // What is written with digits is a number of its own, and so is what a comma parts.
      let hasDigits = word.contains(where: \.isNumber)
      let isNumber = !parts.isEmpty && parts.allSatisfy(SpokenNumber.mayContain)
      if hasDigits || !isNumber || word.first?.isLetter != true { endRow() }
      guard hasDigits || isNumber || parts.count > 1 else { continue }
      row += parts.map { (index, $0) }
      if hasDigits || !isNumber || word.last?.isLetter != true { endRow() }
    }
    endRow()
    return result
  }
}

extension Substring {
  /// What is left without such characters at either end. O(n).
  fileprivate func trimming(_ isOutside: (Character) -> Bool) -> Substring {
    var rest = drop(while: isOutside)
    while let last = rest.last, isOutside(last) { rest.removeLast() }
    return rest
  }
}

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
