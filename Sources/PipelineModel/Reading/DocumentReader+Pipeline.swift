/// A pipeline file. Its definition is nil if the file contains too little: broken YAML, no mapping,
/// or no stage.
package typealias ParsedPipeline = Parsed<PipelineDefinition?>

extension Parsed where Definition == PipelineDefinition? {
  /// Reads UTF-8. `knownKinds` only improves messages: whether a kind exists is not checked here.
  /// O(n) in bytes and used aliases.
  package init(_ bytes: [UInt8], knownKinds: [String] = []) {
    self.init(YAMLDocument(bytes), knownKinds: knownKinds)
  }

  package init(_ text: String, knownKinds: [String] = []) {
    self.init(YAMLDocument(text), knownKinds: knownKinds)
  }

  private init(_ document: YAMLDocument, knownKinds: [String]) {
    self.init(document, empty: nil) { reader, root in
      reader.knownKinds = knownKinds
      return reader.pipeline(root)
    }
  }
}

extension DocumentReader {
  private static let pipelineKeys = Vocabulary(
    ["pipeline", "summary", "inputs", "vars", "stages"],
    synonyms: [
      "name": "pipeline", "description": "summary", "variables": "vars", "steps": "stages",
    ])

  /// Nil without a single readable stage.
  fileprivate mutating func pipeline(_ root: DocumentNode) -> PipelineDefinition? {
    guard let entries = rootEntries(root, of: "a pipeline", Self.pipelineKeys) else { return nil }
    var name: String?
    var summary: String?
    var inputs: [InputDefinition] = []
    var variables: [VariableDefinition] = []
    var steps: [StepDefinition] = []
    var present = Set(entries.map(\.key))
    for entry in entries {
      switch entry.key {
      case "pipeline": name = self.name(entry.value, of: entry.key, rule: .pipeline)
      case "summary": summary = text(entry.value, of: entry.key)
      case "inputs": inputs = self.inputs(entry.value)
      case "vars":
        variables = (self.entries(entry.value, of: "vars", allowed: "name: value") ?? [])
          .compactMap { variable($0) }
        reportNested(variables)
      case "stages": steps = stages(entry.value)
      default:
        // A misspelt key is one problem, and not missing as well.
        if let meant = reportUnknown(entry, among: Self.pipelineKeys, of: "a pipeline") {
          present.insert(meant)
        }
      }
    }
    if !present.contains("pipeline") {
      report(root.location, "the pipeline has no name", allowed: "pipeline: name")
    }
    if !present.contains("stages") {
      report(root.location, "the pipeline has no stages", allowed: "stages: and a list below it")
    }
    // The usual pipeline has one recording, and need not declare it.
    if !present.contains("inputs") {
      inputs = [
        InputDefinition(name: "recording", kind: .sound, isOptional: false, location: root.location)
      ]
    }
    reportShared(inputs, in: entries)
    guard !steps.isEmpty else { return nil }
    return PipelineDefinition(
      name: name ?? "unnamed", summary: summary, inputs: inputs, variables: variables,
      steps: steps)
  }

  private mutating func inputs(_ node: DocumentNode) -> [InputDefinition] {
    let kinds = ArtifactKind.allCases.map(\.rawValue)
    let allowed =
      kinds.joined(separator: ", ")
      + "; with ? behind it where it may be left out, with + where it is one file or more"
    let entries = entries(node, of: "inputs", allowed: "name: kind") ?? []
    return entries.compactMap { entry in
      checkName(entry.key, at: entry.location, what: "an input's name")
      guard let text = text(entry.value, of: entry.key, allowed: allowed) else { return nil }
      let (isOptional, isList) = (text.hasSuffix("?"), text.hasSuffix("+"))
      let word = isOptional || isList ? String(text.dropLast()) : text
      guard let kind = ArtifactKind(rawValue: word) else {
        report(
          entry.value.location, "\"\(text)\" is not a kind of input", allowed: allowed,
          suggestion: Problem.nearest(to: word, in: kinds).map { $0 + text.dropFirst(word.count) })
        return nil
      }
      return InputDefinition(
        name: entry.key, kind: kind, isOptional: isOptional, isList: isList,
        location: entry.location)
    }
  }

  private mutating func stages(_ node: DocumentNode) -> [StepDefinition] {
    guard case .sequence(let items) = node.content else {
      report(
        node.location, node.isNull ? "stages has no value" : "stages is \(node.summary)",
        allowed: "a list: one line for each stage, beginning with \"- \"")
      return []
    }
    if items.isEmpty {
      report(node.location, "stages is an empty list", allowed: "at least one stage")
    }
    return items.compactMap { step($0) }
  }

  /// Reports variables that hold another one.
  private mutating func reportNested(_ variables: [VariableDefinition]) {
    for variable in variables {
      guard case .scalar(let text, false) = variable.value.content, text.hasPrefix("$"),
        variables.contains(where: { $0.name == text.dropFirst() })
      else { continue }
      report(
        variable.value.location, "the variable \"\(variable.name)\" holds another one, \(text)",
        allowed: "a value of its own: a variable is not replaced in another one")
    }
  }

  /// Reports a name of both an input and a variable.
  private mutating func reportShared(_ inputs: [InputDefinition], in entries: [DocumentNode.Entry])
  {
    guard case .mapping(let variables)? = entries.first(where: { $0.key == "vars" })?.value.content
    else { return }
    for entry in variables where inputs.contains(where: { $0.name == entry.key }) {
      report(
        entry.location, "\"\(entry.key)\" is both an input and a variable",
        allowed: "each name once, because $\(entry.key) may mean only one of them")
    }
  }
}

/// Reading variables: `target: -16 LUFS`, or a mapping with `value`, `summary` and `overridable`.
extension DocumentReader {
  private static let variableKeys = Vocabulary(
    ["value", "summary", "overridable"], synonyms: ["default": "value", "description": "summary"])

  private mutating func variable(_ entry: DocumentNode.Entry) -> VariableDefinition? {
    let name = entry.key
    checkName(name, at: entry.location, what: "a variable's name")
    var value: DocumentNode? = entry.value
    var summary: String?
    var isOverridable = false
    if case .mapping(let members) = entry.value.content, isDescribed(members) {
      value = nil
      for member in members {
        switch member.key {
        case "value": value = member.value
        case "summary": summary = text(member.value, of: "summary")
        case "overridable": isOverridable = flag(member.value, of: "overridable") ?? false
        default:
          let meant = reportUnknown(member, among: Self.variableKeys, of: "a variable")
          // A misspelt value is one problem, and not missing as well.
          if meant == "value" { value = member.value }
        }
      }
    }
    guard let value, !value.isNull else {
      report(
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
    return keys.contains("value") || keys.contains("overridable")
      || !keys.isEmpty && keys.allSatisfy { $0 == "summary" }
  }
}

/// Reading the items of `stages`: a stage kind with its parameters, and the reserved keys beside it.
extension DocumentReader {
  private static let stepKeys = Vocabulary(
    StepDefinition.reservedKeys,
    synonyms: [
      "name": "id", "if": "when", "input": "from", "inputs": "from", "source": "from",
      "needs": "from", "retries": "retry", "attempts": "retry",
    ])

  private mutating func step(_ item: DocumentNode) -> StepDefinition? {
    switch item.content {
    case .mapping(let entries): return step(entries, at: item.location)
    case .scalar(let kind, _) where !item.isNull:
      checkName(kind, at: item.location, what: "a stage kind")
      return step(
        DocumentNode.Entry(key: kind, location: item.location, value: .null(at: item.location)),
        beside: [])
    default:
      report(
        item.location, item.isNull ? "this item is empty" : "a stage cannot be \(item.summary)",
        allowed: kindsAllowed)
      return nil
    }
  }

  private mutating func step(
    _ entries: [DocumentNode.Entry], at location: SourceLocation
  ) -> StepDefinition? {
    let reserved = entries.filter { Self.stepKeys.words.contains($0.key) }
    let candidates = entries.filter { !Self.stepKeys.words.contains($0.key) }
    let kind =
      candidates.first { knownKinds.contains($0.key) } ?? candidates.first { !isSlip($0.key) }
      ?? candidates.first
    guard let kind else {
      report(location, "this item has no stage kind", allowed: kindsAllowed)
      // Its other keys can still be wrong.
      _ = step(
        DocumentNode.Entry(key: "", location: location, value: .null(at: location)),
        beside: reserved)
      return nil
    }
    for other in candidates where other != kind { reportSecond(other, beside: kind) }
    checkName(kind.key, at: kind.location, what: "a stage kind")
    return step(kind, beside: reserved)
  }

  private mutating func step(
    _ kind: DocumentNode.Entry, beside reserved: [DocumentNode.Entry]
  ) -> StepDefinition {
    var id: Located<String>?
    var from: StepDefinition.Sources?
    var condition: Located<String>?
    var keep = false
    var attempts: Int?
    var timeout: Double?
    for entry in reserved {
      switch entry.key {
      case "id":
        guard let name = name(entry.value, of: "id", rule: .step) else { continue }
        checkUnique(name, at: entry.value.location, of: "steps", allowed: "another id")
        id = Located(name, at: entry.value.location)
      case "from": from = sources(entry.value)
      case "when": condition = self.condition(entry.value)
      case "keep": keep = flag(entry.value, of: "keep") ?? false
      case "retry": attempts = integer(entry.value, of: "retry", within: 1...10)
      default: timeout = duration(entry.value, of: entry.key)
      }
    }
    // `from` may stand among the parameters, too: `decode: { from: $note }`.
    var parameters = kind.value
    if case .mapping(let entries) = parameters.content,
      let inner = entries.first(where: { $0.key == "from" })
    {
      parameters = DocumentNode(.mapping(entries.filter { $0 != inner }), at: parameters.location)
      if reserved.contains(where: { $0.key == "from" }) {
        report(
          inner.location, "\"from\" is given twice, inside and beside \(kind.key)",
          allowed: "one of the two")
      } else {
        from = sources(inner.value)
      }
    }
    return StepDefinition(
      id: id, kind: Located(kind.key, at: kind.location), parameters: parameters, from: from,
      condition: condition, keep: keep, attempts: attempts, timeout: timeout)
  }

  private var kindsAllowed: String {
    knownKinds.isEmpty
      ? "one stage kind, as in \"- decode\" or \"- gain: -3 dB\""
      : "one of " + knownKinds.joined(separator: ", ")
  }

  private func isSlip(_ key: String) -> Bool {
    !knownKinds.contains(key) && Self.stepKeys.nearest(to: key) != nil
  }

  private mutating func reportSecond(
    _ other: DocumentNode.Entry, beside kind: DocumentNode.Entry
  ) {
    if isSlip(other.key) {
      reportUnknown(other, among: Self.stepKeys, of: "a stage", is: "key")
    } else if knownKinds.contains(other.key) {
      report(
        other.location, "\"\(other.key)\" is a second stage kind beside \"\(kind.key)\"",
        allowed: "one stage kind in an item; begin another with \"- \"")
    } else {
      report(
        other.location, "\"\(other.key)\" stands beside \"\(kind.key)\"",
        allowed: "one stage kind in an item, its parameters indented below it, and beside it only "
          + Self.stepKeys.list)
    }
  }
}

/// Reading the sources and conditions of steps.
extension DocumentReader {
  /// Reads `from: a`, `from: [a, b]` or `from: { port: a }`.
  private mutating func sources(_ node: DocumentNode) -> StepDefinition.Sources? {
    switch node.content {
    case .scalar, .typed: return reference(node).map { .ordered([$0]) }
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
      } else if text.first?.isWholeNumber == true {
        // Perhaps a time, of which more can be said where the parameters are known.
        true
      } else {
        text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
          .allSatisfy { NameRule.step.allows($0) }
      }
    if isReference { return Located(text, at: node.location) }
    report(
      node.location, "\"\(text)\" cannot name an input or a step", allowed: Self.referenceForms)
    return nil
  }

  /// Reads `when: $name` or `when: not $name`, and returns it with single spaces.
  private mutating func condition(_ node: DocumentNode) -> Located<String>? {
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
