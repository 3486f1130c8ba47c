/// A sign of the query's language.
enum SearchLexeme: Hashable, Sendable {
  case word(String, isPrefix: Bool)
  case phrase(String, Bool)
  case and
  case or
  case not
  /// With how many words between; nil where that was not said.
  case near(Int?)
  case open
  case close

  /// Whether it is something to look for.
  var isOperand: Bool {
    switch self {
    case .word, .phrase: true
    default: false
    }
  }

  /// The signs of a text. A quote that is not closed ends with the text. O(n).
  static func all(in text: String) -> [SearchLexeme] {
    var lexemes: [SearchLexeme] = []
    var rest = Substring(text)
    while let first = rest.first {
      switch first {
      case _ where first.isWhitespace: rest.removeFirst()
      case "(":
        lexemes.append(.open)
        rest.removeFirst()
      case ")":
        lexemes.append(.close)
        rest.removeFirst()
      case "\"", "“", "”", "„":
        rest.removeFirst()
        let phrase = rest.prefix { !isQuote($0) }
        rest = rest.dropFirst(phrase.count + 1)
        let isPrefix = rest.first == "*" || phrase.last == "*"
        if rest.first == "*" { rest.removeFirst() }
        lexemes.append(.phrase(String(phrase.last == "*" ? phrase.dropLast() : phrase), isPrefix))
      default:
        let word = rest.prefix { !$0.isWhitespace && !"()".contains($0) && !isQuote($0) }
        rest = rest.dropFirst(word.count)
        lexemes.append(lexeme(word))
      }
    }
    return lexemes
  }

  private static func isQuote(_ character: Character) -> Bool { "\"“”„".contains(character) }

  private static func lexeme(_ word: Substring) -> SearchLexeme {
    switch word {
    case "AND": return .and
    case "OR": return .or
    case "NOT": return .not
    case "NEAR": return .near(nil)
    default: break
    }
    if word.hasPrefix("NEAR/"), let distance = Int(word.dropFirst(5)), distance >= 0 {
      return .near(distance)
    }
    let isPrefix = word.last == "*"
    return .word(String(isPrefix ? word.dropLast() : word), isPrefix: isPrefix)
  }
}
