internal import PipelineModel

/// What names things elsewhere: where a step's inputs come from, and when it runs.
extension Findings {
  /// Reads `from: a`, `from: [a, b]` or `from: { port: a }`.
  mutating func sources(_ node: DocumentNode) -> SourceClause? {
    switch node.content {
    case .scalar: return reference(node).map { .ordered([$0]) }
    case .sequence(let items):
      if items.isEmpty { reportNoSource(node) }
      let references = items.compactMap { reference($0) }
      // Ports go by position: with one missing, the others would land on the wrong ports.
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

  /// Reads `when: $name` or `when: not $name`, and gives it with single spaces.
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
