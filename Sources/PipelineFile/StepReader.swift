internal import PipelineModel

/// Reads one item of `stages`: a stage kind with its parameters, and the reserved keys beside it.
struct StepReader {
  /// Everything wrong so far.
  private(set) var findings: Findings
  private let knownKinds: [String]
  private var ids: Set<String> = []

  static let keys = Vocabulary(
    StepDefinition.reservedKeys,
    synonyms: [
      "name": "id", "if": "when", "input": "from", "inputs": "from", "source": "from",
      "needs": "from", "retries": "retry", "attempts": "retry",
    ])

  /// Starts with what was found before.
  init(knownKinds: [String], findings: Findings) {
    self.knownKinds = knownKinds
    self.findings = findings
  }

  /// The step; nil where the item has no stage kind, which is a problem.
  mutating func read(_ item: DocumentNode) -> StepDefinition? {
    switch item.content {
    case .mapping(let entries): return readMapping(entries, at: item.location)
    case .scalar(let kind, _) where !item.isNull:
      findings.checkName(kind, at: item.location, what: "a stage kind", rule: .step)
      return step(
        DocumentNode.Entry(key: kind, location: item.location, value: .null(at: item.location)),
        beside: [])
    default:
      findings.report(
        item.location, item.isNull ? "this item is empty" : "a stage cannot be \(item.summary)",
        allowed: kindsAllowed)
      return nil
    }
  }

  private mutating func readMapping(
    _ entries: [DocumentNode.Entry], at location: SourceLocation
  ) -> StepDefinition? {
    let reserved = entries.filter { Self.keys.contains($0.key) }
    let candidates = entries.filter { !Self.keys.contains($0.key) }
    guard let kind = mostLikelyKind(among: candidates) else {
      findings.report(location, "this item has no stage kind", allowed: kindsAllowed)
      // Its other keys can still be wrong.
      _ = step(
        DocumentNode.Entry(key: "", location: location, value: .null(at: location)),
        beside: reserved)
      return nil
    }
    for other in candidates where other != kind { reportSecond(other, beside: kind) }
    findings.checkName(kind.key, at: kind.location, what: "a stage kind", rule: .step)
    return step(kind, beside: reserved)
  }

  private mutating func step(
    _ kind: DocumentNode.Entry, beside reserved: [DocumentNode.Entry]
  ) -> StepDefinition {
    var id: Located<String>?
    var from: SourceClause?
    var condition: Located<String>?
    var keep = false
    var attempts: Int?
    var timeout: Double?
    for entry in reserved {
      switch entry.key {
      case "id": id = readID(entry.value)
      case "from": from = findings.sources(entry.value)
      case "when": condition = findings.condition(entry.value)
      case "keep": keep = findings.flag(entry.value, of: "keep") ?? false
      case "retry": attempts = findings.integer(entry.value, of: "retry", within: 1...10)
      default: timeout = findings.duration(entry.value, of: entry.key)
      }
    }
    let (parameters, inner) = lift(kind.value)
    if let inner {
      if reserved.contains(where: { $0.key == "from" }) {
        findings.report(
          inner.location, "\"from\" is given twice, inside and beside \(kind.key)",
          allowed: "one of the two")
      } else {
        from = findings.sources(inner.value)
      }
    }
    return StepDefinition(
      id: id, kind: Located(kind.key, at: kind.location), parameters: parameters, from: from,
      condition: condition, keep: keep, attempts: attempts, timeout: timeout)
  }

  private mutating func readID(_ node: DocumentNode) -> Located<String>? {
    guard let id = findings.name(node, of: "id", rule: .step) else { return nil }
    if !ids.insert(id).inserted {
      findings.report(node.location, "two steps are called \"\(id)\"", allowed: "another id")
    }
    return Located(id, at: node.location)
  }

  /// Takes `from` out of the parameters: `decode: { from: $note }`.
  private func lift(
    _ parameters: DocumentNode
  ) -> (parameters: DocumentNode, from: DocumentNode.Entry?) {
    guard case .mapping(let entries) = parameters.content,
      let from = entries.first(where: { $0.key == "from" })
    else { return (parameters, nil) }
    let others = DocumentNode(.mapping(entries.filter { $0 != from }), at: parameters.location)
    return (others, from)
  }
}

// MARK: Which key is the kind

extension StepReader {
  private var kindsAllowed: String {
    knownKinds.isEmpty
      ? "one stage kind, as in \"- decode\" or \"- gain: -3 dB\""
      : "one of " + knownKinds.joined(separator: ", ")
  }

  private func isSlip(_ key: String) -> Bool {
    !knownKinds.contains(key) && Self.keys.nearest(to: key) != nil
  }

  private func mostLikelyKind(among entries: [DocumentNode.Entry]) -> DocumentNode.Entry? {
    entries.first { knownKinds.contains($0.key) } ?? entries.first { !isSlip($0.key) }
      ?? entries.first
  }

  private mutating func reportSecond(
    _ other: DocumentNode.Entry, beside kind: DocumentNode.Entry
  ) {
    if isSlip(other.key) {
      findings.report(
        other.location, "\"\(other.key)\" is not a key of a stage", allowed: Self.keys.list,
        suggestion: Self.keys.nearest(to: other.key))
    } else if knownKinds.contains(other.key) {
      findings.report(
        other.location, "\"\(other.key)\" is a second stage kind beside \"\(kind.key)\"",
        allowed: "one stage kind in an item; begin another with \"- \"")
    } else {
      findings.report(
        other.location, "\"\(other.key)\" stands beside \"\(kind.key)\"",
        allowed: "one stage kind in an item, its parameters indented below it, and beside it only "
          + Self.keys.list)
    }
  }
}
