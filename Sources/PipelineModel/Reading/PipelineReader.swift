/// Reads the top level of a pipeline file: name, summary, inputs, variables and the list of stages.
struct PipelineReader {
  private(set) var findings = Findings()
  private let knownKinds: [String]

  static let keys = Vocabulary(
    ["pipeline", "summary", "inputs", "vars", "stages"],
    synonyms: [
      "name": "pipeline", "description": "summary", "variables": "vars", "steps": "stages",
    ])

  init(knownKinds: [String]) { self.knownKinds = knownKinds }

  /// Nil without a single readable stage.
  mutating func read(_ root: DocumentNode) -> PipelineDefinition? {
    guard case .mapping(let entries) = root.content else {
      findings.report(
        root.location,
        root.isNull ? "the pipeline is empty" : "a pipeline is a mapping, not \(root.summary)",
        allowed: Self.keys.list)
      return nil
    }
    var name: String?
    var summary: String?
    var inputs: [InputDefinition] = []
    var variables: [VariableDefinition] = []
    var steps: [StepDefinition] = []
    // A misspelt key is one problem, and not missing as well.
    var misspelled: Set<String> = []
    for entry in entries {
      switch entry.key {
      case "pipeline": name = findings.name(entry.value, of: entry.key, rule: .pipeline)
      case "summary": summary = findings.text(entry.value, of: entry.key)
      case "inputs": inputs = readInputs(entry.value)
      case "vars": variables = readVariables(entry.value)
      case "stages": steps = readStages(entry.value)
      default:
        let meant = Self.keys.nearest(to: entry.key)
        if let meant { misspelled.insert(meant) }
        findings.report(
          entry.location, "\"\(entry.key)\" is not a part of a pipeline",
          allowed: Self.keys.list, suggestion: meant)
      }
    }
    let present = misspelled.union(entries.map(\.key))
    if !present.contains("pipeline") {
      findings.report(root.location, "the pipeline has no name", allowed: "pipeline: name")
    }
    if !present.contains("stages") {
      findings.report(
        root.location, "the pipeline has no stages", allowed: "stages: and a list below it")
    }
    // The usual pipeline has one recording, and need not declare it.
    if !present.contains("inputs") {
      inputs = [
        InputDefinition(
          name: "recording", kind: .sound, isOptional: false, location: root.location)
      ]
    }
    reportShared(inputs, variables, in: entries)
    guard !steps.isEmpty else { return nil }
    return PipelineDefinition(
      name: name ?? "unnamed", summary: summary, inputs: inputs, variables: variables,
      steps: steps)
  }

  private mutating func readInputs(_ node: DocumentNode) -> [InputDefinition] {
    let kinds = ArtifactKind.allCases.map(\.rawValue)
    let allowed =
      kinds.joined(separator: ", ")
      + "; with ? behind it where it may be left out, with + where it is one file or more"
    guard let entries = findings.entries(node, of: "inputs", allowed: "name: kind") else {
      return []
    }
    return entries.compactMap { entry in
      findings.checkName(entry.key, at: entry.location, what: "an input's name", rule: .step)
      guard let text = findings.text(entry.value, of: entry.key, allowed: allowed) else {
        return nil
      }
      let isOptional = text.hasSuffix("?")
      let isList = text.hasSuffix("+")
      let word = isOptional || isList ? String(text.dropLast()) : text
      guard let kind = ArtifactKind(rawValue: word) else {
        findings.report(
          entry.value.location, "\"\(text)\" is not a kind of input", allowed: allowed,
          suggestion: Problem.nearest(to: word, in: kinds).map { $0 + text.dropFirst(word.count) })
        return nil
      }
      return InputDefinition(
        name: entry.key, kind: kind, isOptional: isOptional, isList: isList,
        location: entry.location)
    }
  }

  private mutating func readVariables(_ node: DocumentNode) -> [VariableDefinition] {
    guard let entries = findings.entries(node, of: "vars", allowed: "name: value") else {
      return []
    }
    var reader = VariableReader(findings: findings)
    defer { findings = reader.findings }
    return entries.compactMap { reader.read($0) }
  }

  private mutating func readStages(_ node: DocumentNode) -> [StepDefinition] {
    guard case .sequence(let items) = node.content else {
      findings.report(
        node.location, node.isNull ? "stages has no value" : "stages is \(node.summary)",
        allowed: "a list: one line for each stage, beginning with \"- \"")
      return []
    }
    if items.isEmpty {
      findings.report(node.location, "stages is an empty list", allowed: "at least one stage")
    }
    var reader = StepReader(knownKinds: knownKinds, findings: findings)
    defer { findings = reader.findings }
    return items.compactMap { reader.read($0) }
  }

  /// Reports a name of both an input and a variable.
  private mutating func reportShared(
    _ inputs: [InputDefinition], _ variables: [VariableDefinition],
    in entries: [DocumentNode.Entry]
  ) {
    guard case .mapping(let written)? = entries.first(where: { $0.key == "vars" })?.value.content
    else { return }
    for entry in written where inputs.contains(where: { $0.name == entry.key }) {
      findings.report(
        entry.location, "\"\(entry.key)\" is both an input and a variable",
        allowed: "each name once, because $\(entry.key) may mean only one of them")
    }
  }
}

/// Reads one entry of `vars`: `target: -16 LUFS`, or a mapping with `value`, `summary` and
/// `overridable`.
struct VariableReader {
  private(set) var findings: Findings

  private static let keys = Vocabulary(
    ["value", "summary", "overridable"], synonyms: ["default": "value", "description": "summary"])

  init(findings: Findings) { self.findings = findings }

  /// Nil without a value, which is a problem.
  mutating func read(_ entry: DocumentNode.Entry) -> VariableDefinition? {
    let name = entry.key
    findings.checkName(name, at: entry.location, what: "a variable's name", rule: .step)
    var value: DocumentNode? = entry.value
    var summary: String?
    var isOverridable = false
    if case .mapping(let members) = entry.value.content, isDescribed(members) {
      value = nil
      for member in members {
        switch member.key {
        case "value": value = member.value
        case "summary": summary = findings.text(member.value, of: "summary")
        case "overridable":
          isOverridable = findings.flag(member.value, of: "overridable") ?? false
        default:
          findings.report(
            member.location, "\"\(member.key)\" is not a part of a variable",
            allowed: Self.keys.list, suggestion: Self.keys.nearest(to: member.key))
        }
      }
    }
    guard let value, !value.isNull else {
      findings.report(
        value?.location ?? entry.location, "the variable \"\(name)\" has no value",
        allowed: "text, a number with its unit, a list or a mapping")
      return nil
    }
    return VariableDefinition(
      name: name, value: value, summary: summary, isOverridable: isOverridable)
  }

  /// Whether a mapping describes a variable rather than being its value.
  private func isDescribed(_ members: [DocumentNode.Entry]) -> Bool {
    let keys = members.map(\.key)
    return keys.contains("value")
      || !keys.isEmpty && keys.allSatisfy { ["summary", "overridable"].contains($0) }
  }
}

/// Reads one item of `stages`: a stage kind with its parameters, and the reserved keys beside it.
struct StepReader {
  private(set) var findings: Findings
  private let knownKinds: [String]
  private var ids: Set<String> = []

  static let keys = Vocabulary(
    StepDefinition.reservedKeys,
    synonyms: [
      "name": "id", "if": "when", "input": "from", "inputs": "from", "source": "from",
      "needs": "from", "retries": "retry", "attempts": "retry",
    ])

  init(knownKinds: [String], findings: Findings) {
    self.knownKinds = knownKinds
    self.findings = findings
  }

  /// Nil without a stage kind, which is a problem.
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

  /// Removes `from` from the parameters: `decode: { from: $note }`.
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

/// The words allowed in one place, and common synonyms.
struct Vocabulary {
  private let words: [String]
  private let synonyms: [String: String]

  /// The words in the order of messages.
  init(_ words: [String], synonyms: [String: String] = [:]) {
    self.words = words
    self.synonyms = synonyms
  }

  /// For a message.
  var list: String { words.joined(separator: ", ") }

  func contains(_ word: String) -> Bool { words.contains(word) }

  func nearest(to word: String) -> String? {
    synonyms[word.lowercased()] ?? Problem.nearest(to: word, in: words)
  }
}

/// A pipeline file: the definition, and every error in it.
///
/// It can run only if `problems` is empty. A definition with errors is kept as far as it is
/// readable, so that it can be checked against the stage kinds at once.
package struct ParsedPipeline: Hashable, Sendable {
  /// Nil if the file contains too little: broken YAML, no mapping, or no stage.
  package let definition: PipelineDefinition?
  /// In the order of the file, each with its place.
  package let problems: [Problem]

  /// Reads UTF-8. `knownKinds` only improves messages: whether a kind exists is not checked here.
  /// O(n) in bytes and used aliases.
  package init(_ bytes: [UInt8], knownKinds: [String] = []) {
    self.init(YAMLDocument(bytes), knownKinds: knownKinds)
  }

  package init(_ text: String, knownKinds: [String] = []) {
    self.init(YAMLDocument(text), knownKinds: knownKinds)
  }

  private init(_ document: YAMLDocument, knownKinds: [String]) {
    guard let root = document.root else {
      definition = nil
      problems = document.problems
      return
    }
    var reader = PipelineReader(knownKinds: knownKinds)
    definition = reader.read(root)
    problems = (document.problems + reader.findings.problems).inFileOrder
  }
}
