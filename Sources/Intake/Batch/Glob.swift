/// A path pattern in shell syntax: `*` and `?` within one name, `**` across folders, `[a-z]` and
/// `[!a-z]`, `{wav,m4a}`, and `\` to quote a character.
///
/// A pattern without a slash matches a file's name, one with a slash its path below the batch's
/// folder.
package struct Glob: Hashable, Sendable {
  private enum Piece: Hashable {
    case literal(Unicode.Scalar)
    case anyOne
    case anyName
    case anyPath
    case choice([ClosedRange<Unicode.Scalar>], isNegated: Bool)
  }

  package let pattern: String
  private let alternatives: [[Piece]]
  private let isForPaths: Bool

  /// The most alternatives that braces may expand to.
  private static let maximumAlternatives = 1000

  /// Nil for an empty pattern, an open bracket or brace, or too many alternatives.
  package init?(_ pattern: String) {
    var text = Array(pattern.unicodeScalars)
    if text.first == "/" { text.removeFirst() }
    guard !text.isEmpty, let expanded = Self.expand(text) else { return nil }
    var alternatives: [[Piece]] = []
    for text in expanded {
      guard let pieces = Self.pieces(text) else { return nil }
      alternatives.append(pieces)
    }
    self.pattern = pattern
    self.alternatives = alternatives
    isForPaths = pattern.contains("/")
  }

  /// Whether a path below the batch's folder matches. O(pattern · path).
  package func matches(_ path: String) -> Bool {
    var text = Array(path.unicodeScalars)
    if !isForPaths, let slash = text.lastIndex(of: "/") { text.removeFirst(slash + 1) }
    return alternatives.contains { Self.matches($0, text) }
  }

  /// Expands every `{a,b}`; nil if a brace is not closed.
  private static func expand(_ text: [Unicode.Scalar]) -> [[Unicode.Scalar]]? {
    guard let (opening, parts, closing) = firstBraces(text) else {
      return hasOpenBrace(text) ? nil : [text]
    }
    guard let tails = expand(Array(text[(closing + 1)...])) else { return nil }
    var result: [[Unicode.Scalar]] = []
    for part in parts {
      guard let middles = expand(part) else { return nil }
      for middle in middles {
        for tail in tails { result.append(Array(text[..<opening]) + middle + tail) }
      }
      if result.count > maximumAlternatives { return nil }
    }
    return result
  }

  private static func hasOpenBrace(_ text: [Unicode.Scalar]) -> Bool {
    text.indices.contains { text[$0] == "{" && !($0 > 0 && text[$0 - 1] == "\\") }
  }

  private static func firstBraces(
    _ text: [Unicode.Scalar]
  ) -> (opening: Int, parts: [[Unicode.Scalar]], closing: Int)? {
    var depth = 0
    var opening = 0
    var parts: [[Unicode.Scalar]] = [[]]
    var index = 0
    while index < text.count {
      let scalar = text[index]
      var taken = [scalar]
      if scalar == "\\", index + 1 < text.count {
        index += 1
        taken.append(text[index])
      } else if scalar == "{" {
        depth += 1
        if depth == 1 {
          opening = index
          taken = []
        }
      } else if scalar == "}", depth > 0 {
        depth -= 1
        if depth == 0 { return (opening, parts, index) }
      } else if scalar == ",", depth == 1 {
        parts.append([])
        taken = []
      }
      if depth > 0 { parts[parts.count - 1] += taken }
      index += 1
    }
    return nil
  }

  private static func pieces(_ text: [Unicode.Scalar]) -> [Piece]? {
    var pieces: [Piece] = []
    var index = 0
    while index < text.count {
      switch text[index] {
      case "*" where index + 1 < text.count && text[index + 1] == "*":
        index += 1
        if index + 1 < text.count, text[index + 1] == "/" { index += 1 }
        pieces.append(.anyPath)
      case "*": pieces.append(.anyName)
      case "?": pieces.append(.anyOne)
      case "[":
        guard let (piece, end) = choice(text, from: index + 1) else { return nil }
        pieces.append(piece)
        index = end
      case "\\" where index + 1 < text.count:
        index += 1
        pieces.append(.literal(text[index]))
      default: pieces.append(.literal(text[index]))
      }
      index += 1
    }
    return pieces
  }

  /// The choice whose content begins at `start`, and where its bracket closes.
  private static func choice(_ text: [Unicode.Scalar], from start: Int) -> (Piece, Int)? {
    var index = start
    let isNegated = index < text.count && (text[index] == "!" || text[index] == "^")
    if isNegated { index += 1 }
    let first = index
    var ranges: [ClosedRange<Unicode.Scalar>] = []
    while index < text.count {
      if text[index] == "]", index > first { return (.choice(ranges, isNegated: isNegated), index) }
      let low = text[index]
      if index + 2 < text.count, text[index + 1] == "-", text[index + 2] != "]",
        low <= text[index + 2]
      {
        ranges.append(low...text[index + 2])
        index += 3
      } else {
        ranges.append(low...low)
        index += 1
      }
    }
    return nil
  }

  /// Simulates the pattern as an NFA: tracks every place that the text so far can have led to.
  private static func matches(_ pieces: [Piece], _ text: [Unicode.Scalar]) -> Bool {
    var places = closure([0], pieces)
    for scalar in text {
      var next: Set<Int> = []
      for place in places where place < pieces.count {
        switch pieces[place] {
        case .literal(let wanted): if wanted == scalar { next.insert(place + 1) }
        case .anyOne: if scalar != "/" { next.insert(place + 1) }
        case .anyName: if scalar != "/" { next.insert(place) }
        case .anyPath: next.insert(place)
        case .choice(let ranges, let isNegated):
          if scalar != "/", ranges.contains(where: { $0.contains(scalar) }) != isNegated {
            next.insert(place + 1)
          }
        }
      }
      places = closure(next, pieces)
      if places.isEmpty { return false }
    }
    return places.contains(pieces.count)
  }

  /// The places that are reachable without consuming a character.
  private static func closure(_ places: Set<Int>, _ pieces: [Piece]) -> Set<Int> {
    var reached = places
    for place in places {
      var next = place
      while next < pieces.count, pieces[next] == .anyName || pieces[next] == .anyPath {
        next += 1
        reached.insert(next)
      }
    }
    return reached
  }
}
