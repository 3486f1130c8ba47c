internal import Transcripts

/// Text as the index compares what is said: signs and abbreviations in English words, every whole
/// number as one token of digits, so that 20 is not in twenty three, and ß as ss.
enum SaidText {
  /// Each word as it is said; empty if it is silent. A number of several words stands in the first of
  /// them, and the others are empty. O(n).
  /// - Parameter isEnglish: whether all words are English. Of another language only words with digits
  ///   or signs are said as in English: a query for `20 %` finds them too.
  static func words(of written: [String], isEnglish: Bool) -> [String] {
    let said = EnglishSpelling().said(written).map(folded)
    if isEnglish { return withDigits(said, written) }
    return zip(written, said).map { word, said in
      let isShort = hasSign(word) || word.contains(where: \.isNumber)
      return isShort ? withDigits([said], [word])[0] : folded(word)
    }
  }

  /// With ss for ß, which is written for it where keyboards have none.
  static func folded(_ text: String) -> String {
    text.contains { "ßẞ".contains($0) }
      ? text.replacing("ß", with: "ss").replacing("ẞ", with: "SS") : text
  }

  /// The ways in which a text may be said, the likeliest first.
  static func readings(of written: [String]) -> [String] {
    EnglishSpelling().readings(of: written).map { withDigits($0, written).joined(separator: " ") }
  }

  /// Whether it has a sign that is said but is in no token: `C++` is not `C`. O(n).
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
      for (word, _) in row { result[word] = "" }
      var reader = SpokenNumbers(rest: row.map(\.part)[...])
      while !reader.rest.isEmpty {
        let word = row[reader.rest.startIndex].word
        let part = reader.number() ?? reader.rest.removeFirst()
        result[word] += (result[word].isEmpty ? "" : " ") + part
      }
      row = []
    }
    for (index, text) in said.enumerated() {
      let word = written[index]
      let parts = text.lowercased().split { $0 == " " || $0.isPunctuation && !"'’".contains($0) }
        .map(String.init)
      // Digits are a number of their own, and a comma ends one.
      let hasDigits = word.contains(where: \.isNumber)
      let isNumber = !parts.isEmpty && parts.allSatisfy(SpokenNumbers.mayContain)
      if hasDigits || !isNumber || word.first?.isLetter != true { endRow() }
      guard hasDigits || isNumber || parts.count > 1 else { continue }
      row += parts.map { (index, $0) }
      if hasDigits || !isNumber || word.last?.isLetter != true { endRow() }
    }
    endRow()
    return result
  }
}

/// Reads English numbers below a million from words in small letters: one transcript has 25, another
/// twenty five.
private struct SpokenNumbers {
  var rest: ArraySlice<String>

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

  static func mayContain(_ word: String) -> Bool {
    values[word] != nil || ordinals[word] != nil || decades[word] != nil
      || ["hundred", "thousand", "and", "oh", "point"].contains(word)
  }

  /// Reads the longest number, as one token: `25`, `2025`, `3point14`, `25th`, `1990s`; nil if the words
  /// begin with none. Two numbers below 100 are one if they are said like a year, a time or a room:
  /// "twenty twenty five", "ten oh five". O(1).
  mutating func number() -> String? {
    guard var number = hundreds() else { return nil }
    if let pair = pair(number) { return pair }
    if number < 1000, skip("thousand") {
      number = 1000 * number + rest(below: 1000, before: "thousand") { $0.hundreds() }
    }
    if let ordinal = rest.first.flatMap({ Self.ordinals[$0] }), ordinal > 0, number > 0,
      number % 100 == 0 || ordinal < 10 && number % 10 == 0 && number % 100 > 10
    {
      rest.removeFirst()
      return "\(number + ordinal)th"
    }
    guard rest.first == "point" else { return "\(number)" }
    let digits = rest.dropFirst().map { $0 == "oh" ? 0 : Self.values[$0] ?? 10 }.prefix { $0 < 10 }
    if digits.isEmpty { return "\(number)" }
    rest = rest.dropFirst(digits.count + 1)
    return "\(number)point" + digits.map { "\($0)" }.joined()
  }

  /// A number with hundreds: "one hundred and five", "nineteen hundred".
  private mutating func hundreds() -> Int? {
    guard let first = belowHundred() else { return nil }
    guard first > 0, skip("hundred") else { return first }
    return 100 * first + rest(below: 100, before: "hundred") { $0.belowHundred() }
  }

  /// The lower digits of a number: "and five". 0 if there are none, or another number begins.
  private mutating func rest(
    below limit: Int, before scale: String, _ read: (inout Self) -> Int?
  ) -> Int {
    let start = rest
    _ = skip("and")
    if let low = read(&self), (1..<limit).contains(low), rest.first != scale { return low }
    rest = start
    return 0
  }

  private mutating func belowHundred() -> Int? {
    guard let first = value else { return nil }
    rest.removeFirst()
    guard first >= 20, let one = value, (1...9).contains(one) else { return first }
    rest.removeFirst()
    return first + one
  }

  /// A number in two parts: "nineteen eighty four", "nineteen oh five", "nineteen nineties".
  private mutating func pair(_ first: Int) -> String? {
    guard (1...99).contains(first) else { return nil }
    let start = rest
    if first >= 10, let decade = rest.first.flatMap({ Self.decades[$0] }) {
      rest.removeFirst()
      return "\(100 * first + decade)s"
    }
    let hasZero = skip("oh")
    // Of three in a row, the last two belong together: a day, and a year.
    if let second = belowHundred(), hasZero ? (1...9).contains(second) : second >= 10,
      value ?? 0 < 10, rest.first != "hundred", rest.first != "thousand"
    {
      return "\(100 * first + second)"
    }
    rest = start
    return nil
  }

  private var value: Int? { rest.first.flatMap { Self.values[$0] } }

  private mutating func skip(_ word: String) -> Bool {
    guard rest.first == word else { return false }
    rest.removeFirst()
    return true
  }
}
