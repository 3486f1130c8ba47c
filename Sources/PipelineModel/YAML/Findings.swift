/// The collected problems of a file, and readers of simple values that add to them.
struct Findings {
  private(set) var problems: [Problem] = []

  mutating func report(
    _ location: SourceLocation, _ message: String, allowed: String? = nil,
    suggestion: String? = nil
  ) {
    problems.append(Problem(at: location, message, allowed: allowed, suggestion: suggestion))
  }

  /// The value of `key` as text; nil, with a problem, for anything else.
  mutating func text(
    _ node: DocumentNode, of key: String, allowed: String = "text"
  ) -> String? {
    if case .scalar(let text, _) = node.content, !node.isNull { return text }
    report(
      node.location, node.isNull ? "\(key) has no value" : "\(key) is \(node.summary)",
      allowed: allowed)
    return nil
  }

  /// The entries of a mapping; none for null, nil with a problem for anything else.
  mutating func entries(
    _ node: DocumentNode, of key: String, allowed: String
  ) -> [DocumentNode.Entry]? {
    if case .mapping(let entries) = node.content { return entries }
    if node.isNull { return [] }
    report(node.location, "\(key) is \(node.summary)", allowed: "a mapping: \(allowed)")
    return nil
  }

  /// The value of `key` as a name. An invalid one is reported, and still returned.
  mutating func name(_ node: DocumentNode, of key: String, rule: NameRule) -> String? {
    guard let name = text(node, of: key, allowed: rule.allowed) else { return nil }
    checkName(name, at: node.location, what: "a value of \(key)", rule: rule)
    return name
  }

  /// Reports an invalid name.
  mutating func checkName(
    _ name: String, at location: SourceLocation, what: String, rule: NameRule
  ) {
    guard !rule.allows(name) else { return }
    report(location, "\"\(name)\" cannot be \(what)", allowed: rule.allowed)
  }

  /// The value of `key` as YAML 1.2's boolean; nil, with a problem, for anything else.
  mutating func flag(_ node: DocumentNode, of key: String) -> Bool? {
    let allowed = "true, false"
    if case .scalar(let text, isQuoted: false) = node.content {
      if ["true", "True", "TRUE"].contains(text) { return true }
      if ["false", "False", "FALSE"].contains(text) { return false }
    }
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    // The booleans of YAML 1.1.
    let meant = ["yes": "true", "on": "true", "no": "false", "off": "false"][text.lowercased()]
    report(
      node.location, "\(key) is \"\(text)\"", allowed: allowed,
      suggestion: meant ?? Problem.nearest(to: text, in: ["true", "false"]))
    return nil
  }

  /// The value of `key` as a whole number; nil, with a problem, for anything else.
  mutating func integer(
    _ node: DocumentNode, of key: String, within range: ClosedRange<Int>
  ) -> Int? {
    let allowed = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    if let number = Int(text), range.contains(number) { return number }
    report(node.location, "\(key) is \"\(text)\"", allowed: allowed)
    return nil
  }

  /// The value of `key` as a share from 0 % to 100 %, whole percents.
  mutating func percent(_ node: DocumentNode, of key: String) -> Int? {
    let allowed = "a share from 0 % to 100 %, such as 10 %"
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    let digits = text.prefix { $0.isNumber }
    let unit = text.dropFirst(digits.count).drop { $0 == " " }
    if let percent = Int(digits), unit.isEmpty || unit == "%", (0...100).contains(percent) {
      return percent
    }
    report(node.location, "\(key) is \"\(text)\"", allowed: allowed)
    return nil
  }

  /// The value of `key` in seconds; nil, with a problem, unless it is a time above zero.
  mutating func duration(_ node: DocumentNode, of key: String) -> Double? {
    let allowed = "a time above zero, such as 90 s, 10 min or 1.5 h"
    guard let text = text(node, of: key, allowed: allowed) else { return nil }
    if let seconds = try? Unit.seconds.parse(text), seconds > 0 { return seconds }
    report(node.location, "\(key) is \"\(text)\"", allowed: allowed)
    return nil
  }
}

extension Findings {
  /// Reads `from: a`, `from: [a, b]` or `from: { port: a }`.
  mutating func sources(_ node: DocumentNode) -> SourceClause? {
    switch node.content {
    case .scalar: return reference(node).map { .ordered([$0]) }
    case .sequence(let items):
      if items.isEmpty { reportNoSource(node) }
      let references = items.compactMap { reference($0) }
      // Ports are positional: with one missing, the others would land on the wrong ports.
      return references.count == items.count && !items.isEmpty ? .ordered(references) : nil
    case .mapping(let entries):
      if entries.isEmpty { reportNoSource(node) }
      var named: [String: Located<String>] = [:]
      for entry in entries { named[entry.key] = reference(entry.value) }
      return named.isEmpty ? nil : .named(named)
    }
  }

  private mutating func reportNoSource(_ node: DocumentNode) {
    report(node.location, "from names nothing", allowed: Self.referenceForms)
  }

  private static let referenceForms =
    "$input, step or step.port; several as [a, b] or { port: a }"

  private mutating func reference(_ node: DocumentNode) -> Located<String>? {
    guard let text = text(node, of: "from", allowed: Self.referenceForms) else { return nil }
    let isReference =
      if text.hasPrefix("$") {
        NameRule.step.allows(text.dropFirst())
      } else {
        text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
          .allSatisfy { NameRule.step.allows($0) }
      }
    guard isReference else {
      report(
        node.location, "\"\(text)\" cannot name an input or a step", allowed: Self.referenceForms)
      return nil
    }
    return Located(text, at: node.location)
  }

  /// Reads `when: $name` or `when: not $name`, and returns it with single spaces.
  mutating func condition(_ node: DocumentNode) -> Located<String>? {
    let allowed = "$name, not $name"
    guard let text = text(node, of: "when", allowed: allowed) else { return nil }
    var words = text.split(separator: " ")
    let isNegated = words.first == "not" && words.count > 1
    if isNegated { words.removeFirst() }
    guard words.count == 1, let word = words.first, word.hasPrefix("$"),
      NameRule.step.allows(word.dropFirst())
    else {
      report(node.location, "the condition \"\(text)\" cannot be understood", allowed: allowed)
      return nil
    }
    return Located(isNegated ? "not \(word)" : String(word), at: node.location)
  }
}
