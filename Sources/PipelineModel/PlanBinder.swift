/// Walks down a definition once, binding each step to its kind, its parameters and its sources,
/// and collecting every problem on the way.
struct PlanBinder {
  private(set) var steps: [BoundStep] = []
  private(set) var skipped: [SkippedStep] = []
  private(set) var problems: [Problem] = []

  private let definition: PipelineDefinition
  private let catalog: StageCatalog
  private let given: Set<String>
  private let variables: [String: DocumentNode]
  /// What stands above, by name: enough to resolve references even where a step is wrong.
  private var above: [Above] = []

  /// A step that was seen, whether it could be bound or not.
  private struct Above {
    let id: StepID
    let outputs: [Port]
    /// For a skipped step: what it would have read, which takes its place.
    let bypass: StepSource?
    let isSkipped: Bool
  }

  init(
    _ definition: PipelineDefinition, catalog: StageCatalog, given: Set<String>,
    overrides: [String: DocumentNode]
  ) {
    self.definition = definition
    self.catalog = catalog
    self.given = given
    var variables = Dictionary(
      definition.variables.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    for (name, value) in overrides.sorted(by: { $0.key < $1.key }) {
      if variables[name] == nil {
        let names = definition.variables.map(\.name)
        problems.append(
          Problem(
            at: nil, "the pipeline has no variable \"\(name)\" to set",
            allowed: names.isEmpty ? "it declares none" : names.joined(separator: ", "),
            suggestion: Problem.nearest(to: name, in: names)))
      }
      variables[name] = value
    }
    self.variables = variables
  }

  mutating func bind() {
    for input in definition.inputs where !input.isOptional && !given.contains(input.name) {
      problems.append(
        Problem(at: input.location, "the input \"\(input.name)\" was not given"))
    }
    let names = definition.inputs.map(\.name)
    for name in given.sorted() where !names.contains(name) {
      problems.append(
        Problem(
          at: nil, "the pipeline has no input \"\(name)\"", allowed: names.joined(separator: ", "),
          suggestion: Problem.nearest(to: name, in: names)))
    }
    for step in definition.steps { bind(step) }
  }

  private mutating func bind(_ step: StepDefinition) {
    let id = name(of: step)
    guard let registration = catalog[step.kind.value] else {
      problems.append(
        Problem(
          at: step.kind.location, "there is no stage kind \"\(step.kind.value)\"",
          allowed: catalog.kinds.joined(separator: ", "),
          suggestion: Problem.nearest(to: step.kind.value, in: catalog.kinds)))
      // What it would give is unknown; sound is the likeliest, and spares the steps below.
      above.append(
        Above(id: id, outputs: [Port(.sound, .sound, "")], bypass: nil, isSkipped: false))
      return
    }
    let descriptor = registration.descriptor
    let reasonToSkip = step.condition.flatMap { unmet($0) }
    let (parameters, references) = split(step.parameters, descriptor)
    let (sources, missing) = connect(step, id, descriptor, references)

    var resolver = ParameterResolver(owner: descriptor.kind)
    let value = resolver.resolve(
      substitute(parameters), as: descriptor.parameters, shorthand: descriptor.shorthand)
    problems += resolver.problems

    if let reason = reasonToSkip ?? missing {
      skipped.append(SkippedStep(id: id, kind: descriptor.kind, reason: reason))
      let bypass = descriptor.inputs.first.flatMap { sources[$0.name] }
      above.append(
        Above(id: id, outputs: descriptor.outputs, bypass: bypass, isSkipped: true))
      return
    }
    above.append(Above(id: id, outputs: descriptor.outputs, bypass: nil, isSkipped: false))
    guard resolver.problems.isEmpty else { return }
    do {
      steps.append(
        BoundStep(
          id: id, registration: registration, parameters: value,
          stage: try registration.make(value), sources: sources, keep: step.keep,
          attempts: step.attempts ?? 3, timeout: step.timeout))
    } catch {
      let reason = error.reason.map { ": \($0)" } ?? ""
      problems.append(
        Problem(at: step.kind.location, error.message + reason, allowed: error.advice))
    }
  }

  /// `eq`, then `eq-2`, unless the pipeline names it.
  private mutating func name(of step: StepDefinition) -> StepID {
    let wanted = step.id?.value ?? step.kind.value
    let taken = Set(above.map(\.id.name)).union(
      definition.steps.compactMap { $0.id?.value }.filter { _ in step.id == nil })
    if !taken.contains(wanted) { return StepID(wanted) }
    if let id = step.id {
      problems.append(
        Problem(at: id.location, "two steps are called \"\(wanted)\"", allowed: "another id"))
    }
    var number = 2
    while taken.contains("\(wanted)-\(number)") { number += 1 }
    return StepID("\(wanted)-\(number)")
  }

  /// Why a condition does not hold; nil if it does, or makes no sense, which is a problem.
  private mutating func unmet(_ condition: Located<String>) -> String? {
    var words = condition.value.split(separator: " ")
    let isNegated = words.first == "not"
    if isNegated { words.removeFirst() }
    guard words.count == 1, let word = words.first, word.first == "$" else {
      problems.append(
        Problem(
          at: condition.location, "the condition \"\(condition.value)\" cannot be understood",
          allowed: "$name, not $name"))
      return nil
    }
    let name = String(word.dropFirst())
    let holds: Bool
    if definition.inputs.contains(where: { $0.name == name }) {
      holds = given.contains(name)
    } else if let variable = variables[name] {
      switch variable.content {
      case .scalar("true", _): holds = true
      case .scalar("false", _): holds = false
      default:
        problems.append(
          Problem(
            at: condition.location, "$\(name) is \(variable.summary), not a condition",
            allowed: "true, false"))
        return nil
      }
    } else {
      reportUnknownName(name, at: condition.location)
      return nil
    }
    if holds != isNegated { return nil }
    return isNegated ? "$\(name) is given or true" : "$\(name) is not given or false"
  }

  /// Takes references to inputs and steps out of the parameters: `align: { transcript: $text }`.
  private func split(
    _ node: DocumentNode, _ descriptor: StageDescriptor
  ) -> (parameters: DocumentNode, references: [DocumentNode.Entry]) {
    guard case .mapping(let entries) = node.content else { return (node, []) }
    let ports = Set(descriptor.inputs.map(\.name.name))
    let parameters = Set(descriptor.parameters.map(\.name))
    let isReference = { (entry: DocumentNode.Entry) in
      ports.contains(entry.key) && !parameters.contains(entry.key)
    }
    return (
      DocumentNode(.mapping(entries.filter { !isReference($0) }), at: node.location),
      entries.filter(isReference)
    )
  }

  // MARK: Sources

  /// Connects every input port.
  /// - Returns: the sources, and why the step cannot run where a skipped step took a source away.
  private mutating func connect(
    _ step: StepDefinition, _ id: StepID, _ descriptor: StageDescriptor,
    _ references: [DocumentNode.Entry]
  ) -> (sources: [PortName: StepSource], missing: String?) {
    var written: [PortName: Located<String>] = [:]
    switch step.from {
    case .ordered(let list):
      for (port, reference) in zip(descriptor.inputs, list) { written[port.name] = reference }
      if let extra = list.dropFirst(descriptor.inputs.count).first {
        problems.append(
          Problem(
            at: extra.location, "\(descriptor.kind) has no input left for \"\(extra.value)\"",
            allowed: portNames(descriptor)))
      }
    case .named(let references):
      for (name, reference) in references {
        if descriptor.inputs.contains(where: { $0.name.name == name }) {
          written[PortName(name)] = reference
        } else {
          problems.append(
            Problem(
              at: reference.location, "\(descriptor.kind) has no input \"\(name)\"",
              allowed: portNames(descriptor),
              suggestion: Problem.nearest(
                to: name, in: descriptor.inputs.map(\.name.name))))
        }
      }
    case nil: break
    }
    for entry in references {
      guard case .scalar(let text, _) = entry.value.content else {
        problems.append(
          Problem(
            at: entry.value.location, "\(entry.key) of \(descriptor.kind) names an input or a step",
            allowed: "$input, step"))
        continue
      }
      written[PortName(entry.key)] = Located(text, at: entry.value.location)
    }
    var sources: [PortName: StepSource] = [:]
    var missing: String?
    for (index, port) in descriptor.inputs.enumerated() {
      if let reference = written[port.name] {
        let source = resolve(reference, for: port, of: descriptor)
        sources[port.name] = source
        if source == nil, !port.isOptional { missing = "\(reference.value) was not given" }
      } else if index == 0 || !port.isOptional {
        sources[port.name] = nearest(above: step, port, descriptor)
      }
    }
    return (sources, missing)
  }

  /// What a written reference means; nil where the source is absent, or wrong, which is a problem.
  private mutating func resolve(
    _ reference: Located<String>, for port: Port, of descriptor: StageDescriptor
  ) -> StepSource? {
    if reference.value.hasPrefix("$") {
      let name = String(reference.value.dropFirst())
      guard let input = definition.inputs.first(where: { $0.name == name }) else {
        reportUnknownName(name, at: reference.location)
        return nil
      }
      if port.kind == .sound, !port.takesRecording {
        problems.append(
          Problem(
            at: reference.location,
            "\(descriptor.kind) takes decoded sound, and $\(name) is a recording",
            allowed: "the output of a decode stage"))
      } else if input.kind != port.kind {
        report(reference, port, descriptor, found: input.kind)
      }
      return given.contains(name) ? .input(name) : nil
    }
    let parts = reference.value.split(separator: ".", maxSplits: 1).map(String.init)
    guard let step = above.first(where: { $0.id.name == parts.first }) else {
      let isBelow = definition.steps.contains { $0.id?.value == parts.first }
      problems.append(
        Problem(
          at: reference.location,
          isBelow
            ? "\"\(reference.value)\" stands below, and a step can only read those above"
            : "there is no step \"\(reference.value)\" above",
          allowed: above.map(\.id.name).joined(separator: ", "),
          suggestion: Problem.nearest(to: parts.first ?? "", in: above.map(\.id.name))))
      return nil
    }
    let wanted = parts.dropFirst().first
    guard
      let output = step.outputs.first(where: {
        wanted == nil ? $0.kind == port.kind : $0.name.name == wanted
      })
    else {
      if let wanted {
        problems.append(
          Problem(
            at: reference.location, "\(step.id) has no output \"\(wanted)\"",
            allowed: step.outputs.map(\.name.name).joined(separator: ", ")))
      } else {
        report(reference, port, descriptor, found: step.outputs.first?.kind)
      }
      return nil
    }
    if output.kind != port.kind { report(reference, port, descriptor, found: output.kind) }
    return step.isSkipped ? step.bypass : .step(step.id, output.name)
  }

  /// Where an unwritten source comes from: the nearest step above that gives such a thing, or the
  /// pipeline's only input of the kind.
  private mutating func nearest(
    above step: StepDefinition, _ port: Port, _ descriptor: StageDescriptor
  ) -> StepSource? {
    let inputs = definition.inputs.filter { $0.kind == port.kind }
    if port.takesRecording {
      if inputs.count == 1, let only = inputs.first {
        return given.contains(only.name) ? .input(only.name) : nil
      }
    } else {
      for candidate in above.reversed() {
        guard let output = candidate.outputs.first(where: { $0.kind == port.kind }) else {
          continue
        }
        if !candidate.isSkipped { return .step(candidate.id, output.name) }
        if let bypass = candidate.bypass, case .step = bypass { return bypass }
      }
    }
    let advice =
      port.takesRecording
      ? inputs.map { "from: $\($0.name)" }.joined(separator: ", ")
      : port.kind == .sound ? "put decode above it" : "from: \(port.name)"
    problems.append(
      Problem(
        at: step.kind.location,
        "\(descriptor.kind) has nothing to take its \(port.name) from", allowed: advice))
    return nil
  }

  private mutating func report(
    _ reference: Located<String>, _ port: Port, _ descriptor: StageDescriptor,
    found: ArtifactKind?
  ) {
    problems.append(
      Problem(
        at: reference.location,
        "\(port.name) of \(descriptor.kind) takes \(port.kind.rawValue), and "
          + "\"\(reference.value)\" gives \(found?.rawValue ?? "nothing")"))
  }

  private func portNames(_ descriptor: StageDescriptor) -> String {
    descriptor.inputs.map(\.name.name).joined(separator: ", ")
  }

  // MARK: Variables

  private mutating func substitute(_ node: DocumentNode) -> DocumentNode {
    switch node.content {
    case .scalar(let text, isQuoted: false) where text.hasPrefix("$"):
      let name = String(text.dropFirst())
      guard let variable = variables[name] else {
        reportUnknownName(name, at: node.location)
        return DocumentNode(.scalar("", isQuoted: false), at: node.location)
      }
      return DocumentNode(variable.content, at: node.location)
    case .scalar: return node
    case .sequence(let nodes):
      return DocumentNode(.sequence(nodes.map { substitute($0) }), at: node.location)
    case .mapping(let entries):
      let substituted = entries.map {
        DocumentNode.Entry(key: $0.key, location: $0.location, value: substitute($0.value))
      }
      return DocumentNode(.mapping(substituted), at: node.location)
    }
  }

  private mutating func reportUnknownName(_ name: String, at location: SourceLocation) {
    let names = definition.inputs.map(\.name) + definition.variables.map(\.name)
    problems.append(
      Problem(
        at: location, "there is no input or variable \"$\(name)\"",
        allowed: names.map { "$\($0)" }.joined(separator: ", "),
        suggestion: Problem.nearest(to: name, in: names).map { "$\($0)" }))
  }
}
