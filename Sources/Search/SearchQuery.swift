package import Platform

/// A query in the syntax of FTS5, SQLite's full-text search, which parses it: words, `"phrases"`,
/// `prefix*`, `AND`, `OR`, `NOT`, parentheses and `NEAR(…, 5)`.
///
/// Only the operators reach FTS5 as typed. Words and phrases are quoted, in every way in which they may
/// be said.
package struct SearchQuery: Hashable, Sendable {
  /// What FTS5 is asked, each for texts that match no other. For several words: where they lie close
  /// together, and then where they do not.
  let expressions: [String]
  /// How many words may lie between two of one place.
  let distance: Int

  /// Words between those in `NEAR(…)`, if it names no number.
  private static let usualDistance = 10
  private static let distances = 0...1000
  /// Words between places that are shown as one.
  private static let gap = 12

  /// Quotes what was typed.
  /// - Parameters:
  ///   - arguments: as they were typed. One with spaces and without operators is a phrase: the shell
  ///     takes the quotes away.
  ///   - distance: the largest number of words between all words and phrases; nil if any.
  package init(_ arguments: [String], near distance: Int? = nil) throws(SpoolError) {
    var parts: [Part] = []
    for argument in arguments {
      let own = try Self.parts(of: argument)
      let isPhrase =
        own.count > 1 && !argument.contains(where: Self.isQuote)
        && own.allSatisfy { $0.phrase != nil }
      parts += isPhrase ? [.phrase(Phrase(argument))] : own
    }
    parts.removeAll { $0.phrase?.readings.isEmpty == true }
    guard parts.contains(where: { !$0.isSign }) else {
      throw SpoolError(
        "there is nothing to look for", reason: "no letter or digit is in the query",
        advice: "\(command: .search) WORD")
    }
    let phrases = parts.compactMap(\.phrase)
    if let distance, phrases.count == parts.count {
      parts = [.near(phrases, distance)]
    } else if let distance, parts.count == 1, case .near(let phrases, _) = parts[0] {
      parts = [.near(phrases, distance)]
    } else if distance != nil {
      throw SpoolError(
        "\(option: .near) goes with words and phrases alone",
        reason: "AND, OR, NOT or NEAR is in the query",
        advice: "write NEAR(a b, 5) in the query itself")
    }
    self.distance = parts.map(\.distance).reduce(Self.gap, max)
    let all = Self.expression(of: parts)
    // What follows NOT does not count: fox dog NOT cat.
    let wanted = parts.prefix { $0.phrase != nil || $0 == .sign("AND") }
    let rest = parts[wanted.endIndex...]
    let demands = wanted.compactMap(\.phrase)
    if demands.count > 1, rest.isEmpty || rest.first == .sign("NOT") {
      let near = Part.near(demands, Self.gap * (demands.count - 1))
      let close = Self.expression(of: [near] + rest)
      expressions = [close, "(\(all)) NOT (\(close))"]
    } else {
      expressions = [all]
    }
  }

  /// Parts in the syntax of FTS5, where parentheses do not imply AND. O(n).
  private static func expression(of parts: [Part]) -> String {
    var text = ""
    var isAfterOperand = false
    for part in parts {
      let isOperand = !part.isSign || part == .sign("(")
      text += isOperand && isAfterOperand ? " AND " : text.isEmpty ? "" : " "
      text += part.expression
      isAfterOperand = !part.isSign || part == .sign(")")
    }
    return text
  }

  /// What a text consists of. A quotation without an end ends with the text. O(n).
  /// - Parameter isInNear: whether it stands in `NEAR(…)`, where another is only a sign.
  private static func parts(
    of text: some StringProtocol, isInNear: Bool = false
  ) throws(SpoolError) -> [Part] {
    var parts: [Part] = []
    var rest = Substring(text)
    while let first = rest.first {
      if first.isWhitespace {
        rest.removeFirst()
      } else if "()".contains(first) {
        parts.append(.sign(String(rest.removeFirst())))
      } else if isQuote(first) {
        let phrase = rest.dropFirst().prefix { !isQuote($0) }
        rest = rest.dropFirst(phrase.count + 2)
        let isPrefix = rest.first == "*"
        if isPrefix { rest.removeFirst() }
        parts.append(.phrase(Phrase(isPrefix ? phrase + "*" : String(phrase))))
      } else {
        let word = rest.prefix { !$0.isWhitespace && !"()".contains($0) && !isQuote($0) }
        rest = rest.dropFirst(word.count)
        switch word {
        case "AND", "OR", "NOT": parts.append(.sign(String(word)))
        case "NEAR": parts.append(isInNear ? .sign("NEAR") : try near(&rest))
        default: parts.append(.phrase(Phrase(String(word))))
        }
      }
    }
    return parts
  }

  /// Reads what follows `NEAR`: `(fox dog, 5)`.
  private static func near(_ rest: inout Substring) throws(SpoolError) -> Part {
    rest = rest.drop(while: \.isWhitespace)
    let content = rest.dropFirst().prefix { $0 != ")" }
    let comma = content.lastIndex(of: ",")
    let number = comma.flatMap { comma -> Int? in
      let text = content[comma...].dropFirst().filter { !$0.isWhitespace }
      let isWhole = !text.isEmpty && text.allSatisfy { ("0"..."9").contains($0) }
      return Int(text) ?? (isWhole ? .max : nil)
    }
    let words = number == nil ? content : content[..<(comma ?? content.endIndex)]
    let parts = try rest.first == "(" ? parts(of: words, isInNear: true) : []
    let phrases = parts.compactMap(\.phrase).filter { !$0.readings.isEmpty }
    guard phrases.count == parts.count, phrases.count > 1 else {
      throw SpoolError(
        "NEAR takes words and phrases in parentheses",
        reason: "something else follows it in the query",
        advice: "write NEAR(fox dog, 5), or \"near\" in small letters to look for the word itself")
    }
    let distance = number ?? usualDistance
    guard distances.contains(distance) else {
      throw SpoolError(
        "NEAR takes \(distances.lowerBound) to \(distances.upperBound) words between",
        reason: "a \(distance < 0 ? "negative" : "larger") number is in the query",
        advice: "write NEAR(fox dog, 5)")
    }
    rest = rest.dropFirst(content.count + 2)
    return .near(phrases, distance)
  }

  private static func isQuote(_ character: Character) -> Bool { "\"“”„".contains(character) }

  /// A part of a query.
  private enum Part: Hashable {
    case phrase(Phrase)
    /// Phrases with at most so many words between the first and the last.
    case near([Phrase], Int)
    /// An operator or a parenthesis.
    case sign(String)

    var phrase: Phrase? { if case .phrase(let phrase) = self { phrase } else { nil } }
    var isSign: Bool { if case .sign = self { true } else { false } }
    var distance: Int { if case .near(_, let distance) = self { distance } else { 0 } }

    var expression: String {
      switch self {
      case .phrase(let phrase): return phrase.expression
      case .near(let phrases, let distance):
        // All as typed or all as said: FTS5 compares places within one column.
        let typed = phrases.map { $0.quoted($0.readings[0]) }.joined(separator: " ")
        let said = phrases.map { $0.quoted($0.said) }.joined(separator: " ")
        let one = "NEAR(\(typed), \(distance))"
        return typed == said ? one : "(\(one) OR NEAR(\(said), \(distance)))"
      case .sign(let sign): return sign
      }
    }
  }

  /// Words that follow each other.
  private struct Phrase: Hashable {
    /// The ways in which they may stand in a transcript, without signs; the first as typed. Empty if
    /// there is no letter or digit.
    let readings: [String]
    /// How they are most likely said.
    let said: String
    /// Whether the last word is only the beginning of one.
    let isPrefix: Bool

    /// - Parameter text: with a star at its end if the last word is only a beginning.
    init(_ text: String) {
      isPrefix = text.last == "*"
      let text = isPrefix ? String(text.dropLast()) : text
      let ways = SaidText.readings(of: text.split(whereSeparator: \.isWhitespace).map(String.init))
        .map(Self.plain).filter { !$0.isEmpty }
      let typed = Self.plain(text)
      said = ways.first ?? typed
      if SaidText.hasSign(text), let way = ways.first {
        // FTS5 ignores signs: C++ as typed would find C.
        readings = [way]
      } else {
        readings = ([typed] + ways).reduce(into: []) { readings, way in
          if !way.isEmpty, !readings.contains(way) { readings.append(way) }
        }
      }
    }

    var expression: String {
      let parts = readings.enumerated().map { $0 == 0 ? quoted($1) : "\"\($1)\"" }
      return parts.count == 1 ? parts[0] : "(\(parts.joined(separator: " OR ")))"
    }

    func quoted(_ reading: String) -> String { "\"\(reading)\"" + (isPrefix ? "*" : "") }

    /// Its letters and digits, which alone are in the index.
    private static func plain(_ text: String) -> String {
      SaidText.folded(text.lowercased()).split { !$0.isLetter && !$0.isNumber }.joined(
        separator: " ")
    }
  }
}
