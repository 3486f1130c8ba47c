/// What is looked for among the words of all recordings.
///
/// Words and phrases with `AND`, `OR`, `NOT` and `NEAR` between them, in capitals; words that merely
/// follow each other must all be said. `NOT` binds most, then `AND`, then `OR`.
public struct SearchQuery: Hashable, Sendable {
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
  public static let usualDistance = 10
  /// A query of more words and phrases is refused.
  public static let longest = 64

  /// Reads a query.
  /// - Parameters:
  ///   - arguments: as they were typed. One that has spaces in it and no signs of this language is a
  ///     phrase, as the shell takes the quotes away.
  ///   - distance: how many words may lie between all words and phrases; nil where they may be anywhere.
  public init(_ arguments: [String], near distance: Int? = nil) throws(SearchQueryError) {
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
      "--near goes with words and phrases alone", reason: "AND, OR and NOT are in the query",
      advice: "write a NEAR/\(distance) b in the query itself")
  }
}

/// Why a query cannot be understood.
public struct SearchQueryError: Error, Hashable, Sendable {
  /// What is wrong.
  public let message: String
  /// Why.
  public let reason: String
  /// What to type instead.
  public let advice: String

  init(_ message: String, reason: String, advice: String) {
    self.message = message
    self.reason = reason
    self.advice = advice
  }
}
