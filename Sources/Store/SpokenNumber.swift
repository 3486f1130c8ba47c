internal import Spelling

/// Whole numbers as digits and as English words: what one transcript writes as 25, another has as
/// twenty five.
enum SpokenNumber {
  /// The largest that is spelled.
  private static let largest = 9999

  /// The tokens as they are, and where they hold numbers, as another transcript may have them; none
  /// where there are no tokens.
  static func readings(of tokens: [String]) -> [[String]] {
    guard !tokens.isEmpty else { return [] }
    // Commas part thousands, and tokens.
    let whole = joiningThousands(tokens)
    let figures = digits(in: whole)
    let spelled = whole.flatMap { words(of: $0) ?? [$0] }
    let paired = whole.flatMap { pairedWords(of: $0) ?? words(of: $0) ?? [$0] }
    let others = [
      spelled, paired, figures, figures.flatMap(partingThousands), withAnd(spelled),
      figures.flatMap { words(of: $0) ?? [$0] },
    ]
    var readings = [tokens]
    for reading in others where !readings.contains(reading) { readings.append(reading) }
    return readings
  }

  /// `1,042`, which is two tokens, as one.
  private static func joiningThousands(_ tokens: [String]) -> [String] {
    tokens.reduce(into: []) { result, token in
      if token.utf8.count == 3, token.utf8.allSatisfy({ (48...57).contains($0) }),
        let last = result.last, last.utf8.count == 1, last != "0", plain(last) != nil
      {
        result[result.count - 1] += token
      } else {
        result.append(token)
      }
    }
  }

  /// A number from a thousand on as the two tokens that it is with a comma.
  private static func partingThousands(_ token: String) -> [String] {
    guard token.utf8.count == 4, plain(token) != nil else { return [token] }
    return [String(token.prefix(1)), String(token.suffix(3))]
  }

  /// Number words with the `and` that the British say: "one hundred and five", "one thousand and
  /// forty two".
  private static func withAnd(_ tokens: [String]) -> [String] {
    tokens.indices.flatMap { index -> [String] in
      let token = tokens[index]
      let next = index + 1 < tokens.count ? tokens[index + 1] : ""
      let isSmall =
        !next.isEmpty && (EnglishNumbers.small.contains(next) || EnglishNumbers.tens.contains(next))
      let isHundreds = index + 2 < tokens.count && tokens[index + 2] == "hundred"
      return isSmall && (token == "hundred" || token == "thousand" && !isHundreds)
        ? [token, "and"] : [token]
    }
  }

  /// 115 as "one hundred fifteen".
  private static func words(of digits: String) -> [String]? {
    guard let number = plain(digits) else { return nil }
    return words(of: number)
  }

  private static func words(of number: Int) -> [String] { EnglishNumbers.cardinal(number) ?? [] }

  /// 2025 as "twenty twenty five", as years are said.
  private static func pairedWords(of digits: String) -> [String]? {
    guard let number = plain(digits), (1000...largest).contains(number), number % 100 >= 10 else {
      return nil
    }
    return words(of: number / 100) + words(of: number % 100)
  }

  private static func plain(_ digits: String) -> Int? {
    guard digits.utf8.count <= 4, digits.utf8.allSatisfy({ (48...57).contains($0) }),
      digits == "0" || !digits.hasPrefix("0")
    else { return nil }
    return Int(digits)
  }

  /// The tokens with every row of number words that is one number as digits.
  private static func digits(in tokens: [String]) -> [String] {
    var result: [String] = []
    var rest = tokens[...]
    while let first = rest.first {
      // The longest row that is the usual spelling of a number: "twenty five", never "five twenty".
      let row = (1...min(7, rest.count)).reversed().lazy.compactMap { count in
        number(Array(rest.prefix(count))).map { (count, $0) }
      }.first
      if let (count, number) = row {
        result.append(String(number))
        rest = rest.dropFirst(count)
      } else {
        result.append(first)
        rest = rest.dropFirst()
      }
    }
    return result
  }

  /// The number that is spelled like this; nil where none is.
  private static func number(_ tokens: [String]) -> Int? {
    var (total, current) = (0, 0)
    for token in tokens {
      if let value = EnglishNumbers.small.firstIndex(of: token) {
        current += value
      } else if let value = EnglishNumbers.tens.firstIndex(of: token), !token.isEmpty {
        current += 10 * value
      } else if token == "hundred" {
        current *= 100
      } else if token == "thousand" {
        (total, current) = (total + 1000 * current, 0)
      } else if token == "and" {
        continue
      } else {
        return nil
      }
    }
    let value = total + current
    // Whatever was added up, it counts only if that is how the sum is said.
    let said = words(of: max(0, min(value, largest)))
    guard value <= largest, said == tokens || withAnd(said) == tokens else {
      return year(tokens)
    }
    return value
  }

  private static func year(_ tokens: [String]) -> Int? {
    for split in 1..<max(2, tokens.count) where split < tokens.count {
      guard let first = century(tokens[..<split]), let second = century(tokens[split...]),
        first >= 10, second >= 10
      else { continue }
      return 100 * first + second
    }
    return nil
  }

  /// A number below 100; nil where none is said.
  private static func century(_ tokens: ArraySlice<String>) -> Int? {
    let tokens = Array(tokens)
    guard let first = tokens.first, tokens.count <= 2 else { return nil }
    let ten = EnglishNumbers.tens.firstIndex(of: first).map { 10 * $0 }
    guard tokens.count == 2 else { return EnglishNumbers.small.firstIndex(of: first) ?? ten }
    guard let ten, let one = EnglishNumbers.small.firstIndex(of: tokens[1]), (1...9).contains(one)
    else {
      return nil
    }
    return ten + one
  }
}
