/// A query as the full text search reads it, with what it takes to tell its phrases apart again.
///
/// Only tokens come into it, between quotes: nothing that a user types means anything there.
struct SearchExpression {
  /// A phrase of the expression, in the order in which the full text search counts them.
  struct Phrase: Hashable {
    /// Which of the things that must all be said it belongs to.
    let demand: Int
    let tokens: [String]

    /// Whether what was found for it in a word, as it is written, is what was looked for: a number is,
    /// where it is no part of a longer one. O(n).
    func isWhole(in word: String) -> Bool {
      guard tokens.count == 1, let number = tokens.first, number.allSatisfy(\.isNumber) else {
        return true
      }
      return word.numbers.contains { $0 == number }
    }
  }

  let text: String
  let phrases: [Phrase]
  /// How many things must all be said.
  let demandCount: Int
  /// How many words may lie within one place that is found.
  let distance: Int

  /// Translates a query; nil where nothing in it is a word.
  /// - Parameter tokens: takes text apart as the index does.
  init?(_ query: SearchQuery, tokens: (String) -> [String]) {
    // Readings are needed once for each text, before anything is written.
    var known: [String: SearchReadings] = [:]
    for text in query.term.texts { known[text] = SearchReadings(of: text, tokens: tokens) }
    var writer = Writer(known: known)
    var parts: [String] = []
    var demand = 0
    let demands: [SearchQuery.Term]
    var unwanted: SearchQuery.Term?
    switch query.term {
    case .all(let terms): demands = terms
    case .without(.all(let terms), let rest): (demands, unwanted) = (terms, rest)
    case .without(let term, let rest): (demands, unwanted) = ([term], rest)
    default: demands = [query.term]
    }
    for term in demands {
      guard let part = writer.expression(of: term, demand: demand) else { continue }
      parts.append(part)
      demand += 1
    }
    guard !parts.isEmpty else { return nil }
    var text = parts.joined(separator: " AND ")
    if let unwanted, let part = writer.expression(of: unwanted, demand: -1) {
      text = "(\(text)) NOT \(part)"
    }
    self.text = text
    phrases = writer.phrases
    demandCount = demand
    distance = writer.distance
  }

  private struct Writer {
    /// The readings of each text.
    let known: [String: SearchReadings]
    var phrases: [Phrase] = []
    var distance = 0

    mutating func expression(of term: SearchQuery.Term, demand: Int) -> String? {
      switch term {
      case .phrase(let text, let isPrefix):
        let readings = known[text]?.readings ?? []
        let parts = readings.map { reading in
          phrase(reading, isPrefix: isPrefix && reading == readings.first, demand)
        }
        return parts.isEmpty ? nil : grouped(parts, by: " OR ")
      case .near(let terms, let distance):
        // All as they were typed, or all as they are said: what is near stands in one column.
        let typed = near(terms, distance, demand) { $0.readings.first ?? [] }
        let isSaidSo = terms.allSatisfy { term in
          guard case .phrase(let text, _) = term, let known = known[text] else { return true }
          return known.readings.first == known.said
        }
        let said = isSaidSo ? nil : near(terms, distance, demand) { $0.said }
        let parts = [typed, said].compactMap(\.self)
        return parts.isEmpty ? nil : grouped(parts, by: " OR ")
      case .all(let terms): return joined(terms, by: " AND ", demand)
      case .any(let terms): return joined(terms, by: " OR ", demand)
      case .without(let wanted, let unwanted):
        guard let first = expression(of: wanted, demand: demand) else { return nil }
        guard let second = expression(of: unwanted, demand: -1) else { return first }
        return "(\(first) NOT \(second))"
      }
    }

    private mutating func near(
      _ terms: [SearchQuery.Term], _ distance: Int, _ demand: Int,
      reading: (SearchReadings) -> [String]
    ) -> String? {
      var parts: [String] = []
      for case .phrase(let text, let isPrefix) in terms {
        let own = known[text].map(reading) ?? []
        if !own.isEmpty { parts.append(phrase(own, isPrefix: isPrefix, demand)) }
      }
      guard parts.count > 1 else { return parts.first }
      self.distance = max(self.distance, distance)
      return "NEAR(\(parts.joined(separator: " ")), \(distance))"
    }

    private mutating func joined(
      _ terms: [SearchQuery.Term], by word: String, _ demand: Int
    ) -> String? {
      var parts: [String] = []
      for term in terms {
        if let part = expression(of: term, demand: demand) { parts.append(part) }
      }
      return parts.isEmpty ? nil : grouped(parts, by: word)
    }

    private func grouped(_ parts: [String], by word: String) -> String {
      parts.count == 1 ? parts[0] : "(\(parts.joined(separator: word)))"
    }

    private mutating func phrase(_ tokens: [String], isPrefix: Bool, _ demand: Int) -> String {
      phrases.append(Phrase(demand: demand, tokens: tokens))
      return "\"\(tokens.joined(separator: " "))\"" + (isPrefix ? "*" : "")
    }
  }
}

extension SearchQuery.Term {
  /// The texts of all phrases.
  fileprivate var texts: [String] {
    switch self {
    case .phrase(let text, _): [text]
    case .near(let terms, _), .all(let terms), .any(let terms): terms.flatMap(\.texts)
    case .without(let first, let second): first.texts + second.texts
    }
  }
}

extension String {
  /// The numbers in it, with the points and commas between their digits: of `(1,042` one. O(n).
  fileprivate var numbers: [Substring] {
    split { !$0.isNumber && $0 != "." && $0 != "," }.compactMap { part in
      guard let first = part.firstIndex(where: \.isNumber),
        let last = part.lastIndex(where: \.isNumber)
      else { return nil }
      return part[first...last]
    }
  }
}

/// The ways in which what is looked for may stand in a transcript: as it was typed, and as it is said in
/// English, with its numbers as digits.
struct SearchReadings {
  /// Each as its tokens; none where nothing of it is a word. The first is what was typed, unless that
  /// has signs which no token holds: then only what is said is meant.
  let readings: [[String]]
  /// The likeliest way in which it is said; the same as the first reading where it is said like that.
  let said: [String]

  /// - Parameter tokens: takes text apart as the index does.
  init(of text: String, tokens: (String) -> [String]) {
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
    let ways = SaidText.readings(of: words).map(tokens).filter { !$0.isEmpty }
    let typed = tokens(text)
    said = ways.first ?? typed
    var readings = typed.isEmpty ? [] : [typed]
    // People leave signs out, too: $3.50 is "three fifty", and that would find 350.
    if SaidText.hasSign(text), let way = ways.first {
      readings = [way]
    } else {
      for way in ways where !readings.contains(way) { readings.append(way) }
    }
    self.readings = readings
  }
}
