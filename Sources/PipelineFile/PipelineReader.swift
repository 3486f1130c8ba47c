internal import PipelineModel

/// Reads the top of a pipeline file: name, summary, inputs, variables and the list of stages.
struct PipelineReader {
  /// Everything wrong so far.
  private(set) var findings = Findings()
  private let knownKinds: [String]

  static let keys = Vocabulary(
    ["pipeline", "summary", "inputs", "vars", "stages"],
    synonyms: [
      "name": "pipeline", "description": "summary", "variables": "vars", "steps": "stages",
    ])

  /// Starts without findings.
  init(knownKinds: [String]) { self.knownKinds = knownKinds }

  /// What a document defines; nil without a single readable stage.
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
    // One slip, one problem: what was meant is not missing as well.
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
    // The usual pipeline has one recording, and need not say so.
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

  /// `$name` must mean one thing.
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
