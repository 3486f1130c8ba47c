/// One argument of a command, with names in braces where paths come. `{{name}}` is `{name}` itself;
/// other braces stay as they are, for they mean much to `awk` and `jq`.
struct CommandWord: Hashable, Sendable {
  /// As it was written.
  let text: String
  private let parts: [Part]

  private enum Part: Hashable, Sendable {
    case plain(String)
    case name(String)
  }

  /// Takes a word apart. O(n).
  init(_ text: String) {
    self.text = text
    var parts: [Part] = []
    var plain = ""
    var rest = text[...]
    while let brace = rest.firstIndex(of: "{") {
      plain += rest[..<brace]
      rest = rest[brace...]
      if let literal = Self.name(in: rest, braces: 2) {
        plain += "{\(literal)}"
        rest = rest.dropFirst(literal.count + 4)
      } else if let name = Self.name(in: rest, braces: 1) {
        if !plain.isEmpty { parts.append(.plain(plain)) }
        plain = ""
        parts.append(.name(name))
        rest = rest.dropFirst(name.count + 2)
      } else {
        plain += "{"
        rest = rest.dropFirst()
      }
    }
    plain += rest
    if !plain.isEmpty || parts.isEmpty { parts.append(.plain(plain)) }
    self.parts = parts
  }

  /// The names in it.
  var names: [String] { parts.compactMap { if case .name(let name) = $0 { name } else { nil } } }

  /// The word with paths in place of names; nil where one of them has none.
  func filled(_ places: [String: String]) -> String? {
    var result = ""
    for part in parts {
      switch part {
      case .plain(let text): result += text
      case .name(let name):
        guard let place = places[name] else { return nil }
        result += place
      }
    }
    return result
  }

  /// Whether this can stand in braces: small letters, digits and dashes, beginning with a letter.
  static func isName(_ text: some StringProtocol) -> Bool {
    guard let first = text.utf8.first, (97...122).contains(first) else { return false }
    return text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 45 }
  }

  /// The name with which a text begins, between so many braces.
  private static func name(in text: Substring, braces: Int) -> String? {
    guard text.hasPrefix(String(repeating: "{", count: braces)) else { return nil }
    let inner = text.dropFirst(braces)
    guard let end = inner.firstIndex(of: "}"), isName(inner[..<end]),
      inner[end...].hasPrefix(String(repeating: "}", count: braces))
    else { return nil }
    return String(inner[..<end])
  }
}
