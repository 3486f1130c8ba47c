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
        advice: "spool search WORD")
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
