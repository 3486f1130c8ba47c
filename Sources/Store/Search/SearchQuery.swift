import Platform

/// What is looked for among the words of all recordings.
///
/// Words and phrases with `AND`, `OR`, `NOT` and `NEAR` between them, in capitals; words that merely
/// follow each other must all be said. `NOT` binds most, then `AND`, then `OR`.
package struct SearchQuery: Hashable, Sendable {
  /// A part of a query.
  indirect enum Term: Hashable, Sendable {
    /// Words in a row; the last may be only the beginning of one.
    case phrase(String, isPrefix: Bool)
    /// Phrases with at most so many words between the first and the last.
    case near([Term], Int)
    /// All of them, in one recording.
    case all([Term])
    /// Any of them.
    case any([Term])
    /// The first, in a recording without the second.
    case without(Term, Term)
  }

  let term: Term

  /// How many words may lie between those that are `NEAR` each other, where nobody says.
  package static let usualDistance = 10
  /// A query of more words and phrases is refused.
  package static let longest = 64

  /// Reads a query.
  /// - Parameters:
  ///   - arguments: as they were typed. One that has spaces in it and no signs of this language is a
  ///     phrase, as the shell takes the quotes away.
  ///   - distance: how many words may lie between all words and phrases; nil where they may be anywhere.
  package init(_ arguments: [String], near distance: Int? = nil) throws(SearchQueryError) {
    var lexemes: [SearchLexeme] = []
    for argument in arguments {
      let own = SearchLexeme.all(in: argument)
      let isPlain = own.allSatisfy { if case .word = $0 { true } else { false } }
      let words = argument.split(whereSeparator: \.isWhitespace)
      if isPlain, words.count > 1 {
        let isPrefix = argument.hasSuffix("*")
        lexemes.append(.phrase(isPrefix ? String(argument.dropLast()) : argument, isPrefix))
      } else {
        lexemes += own
      }
    }
    guard lexemes.filter(\.isOperand).count <= Self.longest else {
      throw SearchQueryError(
        "the query is too long", reason: "it has more than \(Self.longest) words and phrases",
        advice: "look for fewer; \"…\" makes words in a row one phrase")
    }
    var reader = SearchQueryReader(lexemes)
    let term = try reader.query()
    guard let distance else {
      self.term = term
      return
    }
    self.term = try Self.near(term, distance)
  }

  /// The same words and phrases, close to each other.
  private static func near(_ term: Term, _ distance: Int) throws(SearchQueryError) -> Term {
    switch term {
    case .phrase: return term
    case .all(let terms):
      let phrases = terms.filter { if case .phrase = $0 { true } else { false } }
      if phrases.count == terms.count { return .near(terms, distance) }
    case .near(let terms, _): return .near(terms, distance)
    case .any, .without: break
    }
    throw SearchQueryError(
      "\(option: .near) goes with words and phrases alone",
      reason: "AND, OR and NOT are in "
        + "the query",
      advice: "write a NEAR/\(distance) b in the query itself")
  }
}

/// Why a query cannot be understood.
package struct SearchQueryError: Error, Hashable, Sendable {
  /// What is wrong.
  package let message: String
  /// Why.
  package let reason: String
  /// What to type instead.
  package let advice: String

  init(_ message: String, reason: String, advice: String) {
    self.message = message
    self.reason = reason
    self.advice = advice
  }
}

/// Puts the signs of a query together: `NEAR` binds most, then `NOT`, then `AND` and mere succession,
/// then `OR`.
struct SearchQueryReader {
  private var rest: ArraySlice<SearchLexeme>
  private var depth = 0
  private static let deepest = 32

  init(_ lexemes: [SearchLexeme]) { rest = lexemes[...] }

  /// The whole query.
  mutating func query() throws(SearchQueryError) -> SearchQuery.Term {
    guard !rest.isEmpty else {
      throw SearchQueryError(
        "there is nothing to look for", reason: "the query has no words",
        advice: "\(command: .search) WORD")
    }
    let term = try alternatives()
    guard rest.isEmpty else { throw unbalanced("a ) closes nothing") }
    return term
  }

  private mutating func alternatives() throws(SearchQueryError) -> SearchQuery.Term {
    var terms = [try conjunction()]
    while rest.first == .or {
      rest.removeFirst()
      terms.append(try conjunction())
    }
    return terms.count == 1 ? terms[0] : .any(terms)
  }

  private mutating func conjunction() throws(SearchQueryError) -> SearchQuery.Term {
    var terms: [SearchQuery.Term] = []
    var unwanted: [SearchQuery.Term] = []
    while true {
      if rest.first == .not {
        guard !terms.isEmpty else {
          throw SearchQueryError(
            "NOT stands where a query begins", reason: "nothing says what is to be found",
            advice: "write what is wanted before it: apples NOT pears")
        }
        rest.removeFirst()
        unwanted.append(try neighbours())
      } else {
        terms.append(try neighbours())
      }
      if rest.first == .and {
        rest.removeFirst()
      } else if rest.isEmpty || rest.first == .or || rest.first == .close {
        break
      }
    }
    let wanted = terms.count == 1 ? terms[0] : .all(terms)
    guard let first = unwanted.first else { return wanted }
    return .without(wanted, unwanted.count == 1 ? first : .any(unwanted))
  }

  private mutating func neighbours() throws(SearchQueryError) -> SearchQuery.Term {
    var terms = [try operand()]
    var distance = 0
    while case .near(let own)? = rest.first {
      rest.removeFirst()
      distance = max(distance, own ?? SearchQuery.usualDistance)
      terms.append(try operand())
    }
    if terms.count == 1 { return terms[0] }
    guard terms.allSatisfy({ if case .phrase = $0 { true } else { false } }) else {
      throw SearchQueryError(
        "NEAR stands beside parentheses", reason: "it goes with words and phrases alone",
        advice: "write a NEAR b OR a NEAR c")
    }
    return .near(terms, distance)
  }

  private mutating func operand() throws(SearchQueryError) -> SearchQuery.Term {
    guard let first = rest.popFirst() else {
      if depth > 0 { throw unbalanced("a ( is not closed") }
      throw SearchQueryError(
        "the query ends too early", reason: "nothing follows its last AND, OR, NOT or NEAR",
        advice: "write a word behind it, or put it in quotes if it is a word itself")
    }
    switch first {
    case .word(let text, let isPrefix): return .phrase(text, isPrefix: isPrefix)
    case .phrase(let text, let isPrefix): return .phrase(text, isPrefix: isPrefix)
    case .open:
      depth += 1
      defer { depth -= 1 }
      guard depth <= Self.deepest else {
        throw SearchQueryError(
          "the query is too deep", reason: "more than \(Self.deepest) parentheses are open",
          advice: "look for less at once")
      }
      let term = try alternatives()
      guard rest.popFirst() == .close else { throw unbalanced("a ( is not closed") }
      return term
    case .close: throw unbalanced("a ) closes nothing")
    case .and, .or, .not, .near:
      throw SearchQueryError(
        "AND, OR, NOT and NEAR stand between words", reason: "one of them has none on one side",
        advice: "write \"and\" in small letters or in quotes to look for the word itself")
    }
  }

  private func unbalanced(_ reason: String) -> SearchQueryError {
    SearchQueryError(
      "the parentheses do not match", reason: reason, advice: "put what is said in quotes: \"…\"")
  }
}

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
