import Platform

extension Plan {
  /// Walks down a definition once, binds each step to its kind, parameters and sources, and collects
  /// every problem.
  struct Binder {
    private(set) var steps: [BoundStep] = []
    private(set) var skipped: [SkippedStep] = []
    private(set) var problems: [Problem] = []
    /// Problems of the steps' sources.
    var sourceProblems: [Problem] = []
    /// Those of what is not given: of steps below a skipped one, and of numbers of sounds.
    var absenceProblems: [Problem] = []
    /// Whether the condition of the current step does not hold.
    private(set) var isSkipping = false
    private(set) var locations: [StepID: SourceLocation] = [:]

    /// The steps above the current one.
    private(set) var above: [Above] = []
    /// The names of the steps so far, those that the pipeline gives to steps, and the last number behind
    /// a name that several want.
    private var taken: Set<String> = []
    private let writtenIDs: Set<String>
    private var numbers: [String: Int] = [:]
    let definition: PipelineDefinition
    private let catalog: StageCatalog
    private let given: Set<String>
    /// The given inputs and the missing ones: a missing input is one problem, and not one more at each
    /// step that reads it.
    let assumed: Set<String>
    /// Whether to check the stages' equipment.
    private let checksEquipment: Bool
    private let variables: [String: DocumentNode]
    /// The overridden variables. Their values are at ``overrideLine``, and the column is their
    /// place here.
    private let overridden: [String]
    /// A line that no file has.
    private static let overrideLine = -1

    init(
      _ definition: PipelineDefinition, catalog: StageCatalog, given: Set<String>,
      overrides: [String: DocumentNode], checksEquipment: Bool
    ) {
      self.definition = definition
      writtenIDs = Set(definition.steps.compactMap { $0.id?.value })
      self.checksEquipment = checksEquipment
      self.catalog = catalog
      self.given = given
      let missing = definition.inputs.filter { !$0.isOptional && $0.names(in: given).isEmpty }
      assumed = given.union(missing.flatMap(\.leastNames))
      var variables = Dictionary(
        definition.variables.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
      overridden = overrides.keys.sorted()
      for (index, name) in overridden.enumerated() {
        if variables[name] == nil {
          let names = definition.variables.map(\.name)
          problems.append(
            Problem(
              at: nil, "the pipeline has no variable \"\(name)\" to set",
              allowed: names.isEmpty ? "it declares none" : names.joined(separator: ", "),
              suggestion: Problem.nearest(to: name, in: names)
            ).inOverride(of: name))
        }
        variables[name] = overrides[name]?.moved(
          to: SourceLocation(line: Self.overrideLine, column: index))
      }
      self.variables = variables
    }

    mutating func bind() {
      for input in definition.inputs where !input.isOptional && input.names(in: given).isEmpty {
        let others = given.isEmpty ? "" : ", only \(given.sorted().joined(separator: ", "))"
        problems.append(
          Problem(
            at: input.location, "the input \"\(input.name)\" was not given\(others)",
            allowed: "\(input.name)=FILE, which names it"))
      }
      let names = definition.inputs.map(\.name)
      let known = Set(definition.inputs.flatMap { $0.names(in: given) })
      for name in given.sorted() where !known.contains(name) {
        problems.append(
          Problem(
            at: nil, "the pipeline has no input \"\(name)\"",
            allowed: names.joined(separator: ", "),
            suggestion: Problem.nearest(to: name, in: names)))
      }
      for step in definition.steps { bind(step) }
      problems += sourceProblems
      problems = problems.map { problem in
        guard let location = problem.location, location.line == Self.overrideLine else {
          return problem
        }
        return problem.inOverride(of: overridden[location.column])
      }
    }

    private mutating func bind(_ step: StepDefinition) {
      let id = name(of: step)
      locations[id] = step.kind.location
      guard let found = catalog[step.kind.value] else {
        bindUnknown(step, as: id)
        return
      }
      let registration = found.shaped(by: filled(step.parameters))
      let descriptor = registration.descriptor
      let condition = step.condition.flatMap { self.condition($0) }
      let reasonToSkip = condition.flatMap(unmet)
      isSkipping = reasonToSkip != nil
      let (written, references) = split(step.parameters, descriptor)
      let connection = connect(step, descriptor, references)
      let names = condition.map { Set([$0.name]) } ?? []
      let needs = connection.needs.union(condition?.isNegated == false ? names : [])
      let excludes = connection.excludes.union(condition?.isNegated == true ? names : [])

      let problemCount = sourceProblems.count
      let substituted = substitute(written, of: descriptor)
      // An undefined name is one problem, not also a wrong or a missing value at its place.
      let unknown = Set(sourceProblems[problemCount...].compactMap(\.location))
      var resolver = ParameterResolver(
        owner: descriptor.kind, folder: definition.folder,
        variables: definition.variables.map(\.name),
        inputs: descriptor.inputs.isEmpty ? [] : ["from"] + descriptor.inputs.map(\.name.name),
        unknown: unknown)
      let value = resolver.resolve(
        substituted, as: descriptor.parameters, shorthand: descriptor.shorthand)
      problems += resolver.problems

      if let reason = reasonToSkip ?? connection.missing {
        skipped.append(SkippedStep(id: id, kind: descriptor.kind, reason: reason))
        above.append(
          Above(
            id: id, outputs: descriptor.outputs,
            bypasses: Self.bypasses(of: descriptor.inputs.first, connection.sources),
            bypassKind: descriptor.inputs.first?.kind,
            isOfList: descriptor.inputs.first?.isList == true, isSkipped: true,
            needs: needs, excludes: excludes))
        return
      }
      above.append(
        Above(
          id: id, outputs: descriptor.outputs, absent: connection.absent,
          origins: origins(of: id, connection, descriptor), needs: needs, excludes: excludes))
      guard resolver.problems.isEmpty, unknown.isEmpty else { return }
      let parameters = placed(
        value, as: descriptor.parameters, without: connection.absent, of: id,
        at: step.kind.location)
      do throws(SpoolError) {
        let stage = try registration.make(parameters)
        try (stage as? any ConnectedStage)?.checkSources(connection.sources) { id in
          steps.first { $0.id == id }
        }
        steps.append(
          BoundStep(
            id: id, registration: registration, parameters: parameters, stage: stage,
            sources: connection.sources, keep: step.keep || !stage.isRepeatable,
            attempts: step.attempts ?? 3, timeout: step.timeout))
        if checksEquipment { try (stage as? any EquippedStage)?.checkEquipment() }
      } catch {
        problems += Self.problems(of: error, in: step, substituted).map { problem in
          guard problem.location == step.kind.location,
            let variable = step.parameters.references.first(where: isOverridden)
          else { return problem }
          return problem.inOverride(of: variable)
        }
      }
    }

    /// Whether a variable has the user's value: where parameters do not go together, that is the one to
    /// change, and not the pipeline.
    private func isOverridden(_ variable: String) -> Bool {
      variables[variable]?.location.line == Self.overrideLine
    }

    /// Reports a step of an unknown kind. Where the kind is a slip of the pen, its parameters are
    /// checked as those of the kind that was meant.
    private mutating func bindUnknown(_ step: StepDefinition, as id: StepID) {
      let kind = step.kind.value
      let meant = Problem.nearest(to: kind, in: catalog.kinds)
      // The list is long, and one is enough.
      let isFirst = !above.contains { $0.isUnknown }
      problems.append(
        Problem(
          at: step.kind.location, "there is no stage kind \"\(kind)\"",
          allowed: isFirst ? catalog.offer : "the same as above", suggestion: meant))
      guard let meant, editDistance(kind.lowercased(), meant.lowercased()) <= 2,
        let registration = catalog[meant]
      else {
        above.append(Above(id: id, outputs: [], isOffered: step.id != nil, isUnknown: true))
        return
      }
      let descriptor = registration.shaped(by: filled(step.parameters)).descriptor
      above.append(
        Above(id: id, outputs: descriptor.outputs, isOffered: step.id != nil, isUnknown: true))
      var resolver = ParameterResolver(owner: meant, folder: definition.folder)
      let parameters = split(step.parameters, descriptor).parameters
      _ = resolver.resolve(
        substitute(parameters, of: descriptor), as: descriptor.parameters,
        shorthand: descriptor.shorthand)
      problems += resolver.problems
    }

    /// Each wrong value at its own place; without one, all at the step's kind.
    private static func problems(
      of error: SpoolError, in step: StepDefinition, _ parameters: DocumentNode
    ) -> [Problem] {
      let others = error.others.flatMap { problems(of: $0, in: step, parameters) }
      // To look again is no value that is allowed; the name of a file near that path may be.
      let isAbsent = error.kind == .missing && error.advice == SystemError.missing.advice
      let allowed = isAbsent ? nil : error.advice
      let meant = isAbsent ? Problem.nearestFile(to: error.path) : nil
      guard error.faults.isEmpty else {
        return error.faults.map { fault in
          Problem(
            at: parameters.location(of: fault.path) ?? step.kind.location,
            "\(error.message): \(fault.message)", allowed: allowed, suggestion: meant)
        } + others
      }
      let reason = error.reason.map { ": \($0)" } ?? ""
      return [
        Problem(
          at: step.kind.location, error.message + reason, allowed: allowed, suggestion: meant)
      ] + others
    }

    /// `eq`, then `eq-2`, unless the pipeline names it.
    private mutating func name(of step: StepDefinition) -> StepID {
      let wanted = step.id?.value ?? step.kind.value
      func isTaken(_ name: String) -> Bool {
        taken.contains(name) || step.id == nil && writtenIDs.contains(name)
      }
      var name = wanted
      if isTaken(wanted) {
        if let id = step.id {
          problems.append(
            Problem(at: id.location, "two steps are called \"\(wanted)\"", allowed: "another id"))
        }
        var number = numbers[wanted] ?? 2
        while isTaken("\(wanted)-\(number)") { number += 1 }
        numbers[wanted] = number
        name = "\(wanted)-\(number)"
      }
      taken.insert(name)
      return StepID(name)
    }

    /// The parts of a condition; nil where it is invalid, which is a problem.
    private mutating func condition(
      _ text: Located<String>
    ) -> (name: String, isNegated: Bool, holds: Bool)? {
      var words = text.value.split(separator: " ")
      let isNegated = words.first == "not"
      if isNegated { words.removeFirst() }
      guard words.count == 1, let word = words.first, word.first == "$" else {
        problems.append(
          Problem(
            at: text.location, "the condition \"\(text.value)\" cannot be understood",
            allowed: "$name, not $name"))
        return nil
      }
      let name = String(word.dropFirst())
      if definition.inputs.contains(where: { $0.name == name }) {
        let isGiven = definition.inputs.contains {
          $0.name == name && !$0.names(in: given).isEmpty
        }
        return (name, isNegated, isGiven != isNegated)
      }
      guard let variable = variables[name] else {
        reportUnknownName(name, at: text.location)
        return nil
      }
      guard let value = variable.boolean else {
        problems.append(
          Problem(
            at: text.location, "$\(name) is \(variable.summary), not a condition",
            allowed: "true, false"))
        return nil
      }
      return (name, isNegated, value != isNegated)
    }

    /// Why a condition does not hold; nil if it does.
    private func unmet(_ condition: (name: String, isNegated: Bool, holds: Bool)) -> String? {
      if condition.holds { return nil }
      return condition.isNegated
        ? "$\(condition.name) is given or true" : "$\(condition.name) is not given or false"
    }

    /// Removes references to inputs and steps from the parameters: `align: { transcript: $text }`.
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

    /// The node with variables replaced by their values. Other names stay: they may be sources.
    private func filled(_ node: DocumentNode) -> DocumentNode {
      switch node.content {
      case .scalar(let text, isQuoted: false) where text.hasPrefix("$"):
        variables[String(text.dropFirst())].map { DocumentNode($0.content, at: node.location) }
          ?? node
      case .scalar, .typed: node
      case .sequence(let nodes):
        DocumentNode(.sequence(nodes.map(filled)), at: node.location)
      case .mapping(let entries):
        DocumentNode(
          .mapping(
            entries.map {
              DocumentNode.Entry(key: $0.key, location: $0.location, value: filled($0.value))
            }), at: node.location)
      }
    }

    /// - Parameter isTemplate: whether names in braces stand for something.
    private mutating func substitute(
      _ node: DocumentNode, isTemplate: Bool
    ) -> DocumentNode {
      switch node.content {
      case .scalar(let text, isQuoted: false) where text.hasPrefix("$"):
        let name = String(text.dropFirst())
        guard let variable = variables[name] else {
          reportNoVariable(name, at: node.location)
          return DocumentNode(.scalar("", isQuoted: false), at: node.location)
        }
        guard isOverridden(name) else {
          return DocumentNode(variable.content, at: node.location)
        }
        return isTemplate ? variable.withLiteralBraces : variable
      case .scalar, .typed: return node
      case .sequence(let nodes):
        return DocumentNode(
          .sequence(nodes.map { substitute($0, isTemplate: isTemplate) }), at: node.location)
      case .mapping(let entries):
        let substituted = entries.map {
          DocumentNode.Entry(
            key: $0.key, location: $0.location, value: substitute($0.value, isTemplate: isTemplate))
        }
        return DocumentNode(.mapping(substituted), at: node.location)
      }
    }

    /// The parameters of a stage with the values of variables.
    private mutating func substitute(
      _ node: DocumentNode, of descriptor: StageDescriptor
    ) -> DocumentNode {
      guard case .mapping(let entries) = node.content else {
        return substitute(node, isTemplate: false)
      }
      let templates = Set(descriptor.parameters.filter(\.isTemplate).map(\.name))
      let substituted = entries.map { entry in
        // A whole list in the place of one has its own names in braces.
        let isList = if case .sequence = entry.value.content { true } else { false }
        return DocumentNode.Entry(
          key: entry.key, location: entry.location,
          value: substitute(entry.value, isTemplate: isList && templates.contains(entry.key)))
      }
      return DocumentNode(.mapping(substituted), at: node.location)
    }
  }
}

extension DocumentNode {
  /// A text in which names in braces are doubled, so that they stand for themselves.
  fileprivate var withLiteralBraces: DocumentNode {
    func literal(_ text: String) -> String {
      text.replacing(/{([a-z][a-z0-9-]*)}/) { "{{\($0.output.1)}}" }
    }
    let content: Content =
      switch content {
      case .scalar(let text, let isQuoted): .scalar(literal(text), isQuoted: isQuoted)
      case .typed(let text): .typed(literal(text))
      default: content
      }
    return DocumentNode(content, at: location)
  }
}
