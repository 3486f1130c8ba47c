/// Connects a step's input ports with the steps above it and the pipeline's inputs.
extension Plan.Binder {
  /// A visited step, bound or not: enough to resolve references even if the step has other errors.
  struct Above {
    let id: StepID
    let outputs: [Port]
    /// For a skipped step: its input, which replaces its output; several where it cannot be told
    /// which of them does.
    var bypasses: [StepSource] = []
    /// The bypass's kind: it replaces outputs of this kind only.
    var bypassKind: ArtifactKind?
    /// Whether that is a list.
    var isOfList = false
    var isSkipped = false
    /// The numbers of the sources of its list that were not given.
    var absent: Set<Int> = []
    /// All that its sound was made of, and itself.
    var origins: Set<StepSource> = []
    /// The names that have to be given or true for it to run, and those that must not be: steps that
    /// cannot both run are alternatives.
    var needs: Set<String> = []
    var excludes: Set<String> = []
    /// Whether to suggest it for a wrong reference: not for a step of unknown kind.
    var isOffered = true
    /// Whether its kind is unknown, and so may be what it gives: nothing below is blamed for it.
    var isUnknown = false

    /// Whether it is skipped, and several sounds could pass in its place.
    func hasChoice(of kind: ArtifactKind) -> Bool {
      isSkipped && bypasses.count > 1 && bypassKind == kind
    }

    func gives(_ source: StepSource) -> Bool {
      if case .step(id, _) = source { !isSkipped } else { false }
    }

    func isAlternative(to other: Above) -> Bool {
      !needs.isDisjoint(with: other.excludes) || !excludes.isDisjoint(with: other.needs)
    }
  }

  /// What a step's inputs are connected with.
  struct Connection {
    var sources: [PortName: StepSource] = [:]
    /// The numbers of the sources of its list that were not given, counted from 1 as written; without
    /// a list of sound, those of the step above whose changes it follows.
    var absent: Set<Int> = []
    /// Why it cannot run; nil if all that it needs was given.
    var missing: String?
    /// As those of the step, from its sources. A step with a list runs without some of them.
    var needs: Set<String> = []
    var excludes: Set<String> = []
  }

  /// The sources of a step's inputs.
  /// - Parameter references: sources written among the parameters.
  mutating func connect(
    _ step: StepDefinition, _ descriptor: StageDescriptor, _ references: [DocumentNode.Entry]
  ) -> Connection {
    let written = written(step, descriptor, references)
    var connection = Connection()
    for (index, port) in descriptor.inputs.enumerated() {
      let problemCount = sourceProblems.count
      var sources: [StepSource] = []
      if let references = written[port.name] {
        var found = references.map { resolve($0, for: port, of: descriptor) }
        if port.isList, port.kind == .sound { leaveOutRepeated(in: &found, references) }
        var number = 0
        for found in found {
          if found.isEmpty, port.isList, port.kind == .sound {
            connection.absent.insert(number + 1)
          }
          number += max(1, found.count)
          sources += found
        }
      } else if index == 0 || !port.isOptional {
        sources = nearest(above: step, port, descriptor)
      }
      if !port.isList, !port.isOptional {
        let references = written[port.name]?.map(\.value) ?? sources.map(Self.text)
        for reference in references {
          let step = above.first { $0.id.name == reference.prefix { $0 != "." } }
          connection.needs.formUnion(
            reference.first == "$" ? [String(reference.dropFirst())] : step?.needs ?? [])
          connection.excludes.formUnion(step?.excludes ?? [])
        }
      }
      for (index, source) in sources.enumerated() {
        connection.sources[port.isList ? port.place(index + 1) : port.name] = source
      }
      if port.isList, port.kind == .measurement {
        let followed = above.filter { step in
          sources.contains { if case .step(let id, _) = $0 { id == step.id } else { false } }
        }
        connection.absent = followed.map(\.absent).first { !$0.isEmpty } ?? []
      }
      if sources.isEmpty, !port.isOptional, sourceProblems.count == problemCount {
        let name = written[port.name]?.first?.value ?? "its \(port.name)"
        connection.missing = "\(name) is not given"
      }
    }
    return connection
  }

  /// The source as a pipeline writes it.
  private static func text(_ source: StepSource) -> String {
    switch source {
    case .input(let name): "$\(name)"
    case .step(let id, _): id.name
    }
  }

  /// What passes in the place of a skipped step; none, where it was not given or is a problem.
  private mutating func bypass(
    of step: Above, to port: Port, of descriptor: StageDescriptor, at location: SourceLocation
  ) -> [StepSource] {
    let names = step.bypasses.map(Self.text)
    let problem: Problem
    if step.bypasses.count > 1 {
      problem = Problem(
        at: location,
        "\(step.id) is skipped, and which sound passes to \(descriptor.kind) in its place cannot be "
          + "told: " + names.joined(separator: ", "),
        allowed: "one of its sounds from a step, the others from recordings")
    } else if case .input(let name)? = step.bypasses.first, port.kind == .sound,
      port.intake == .made
    {
      problem = Problem(
        at: location,
        "\(step.id) is skipped, and $\(name), which passes to \(descriptor.kind) in its place, is "
          + "not decoded",
        allowed: "decode: { from: $\(name) } above \(step.id), and that step in its from")
    } else {
      return step.bypasses
    }
    noteAbsence(problem)
    return []
  }

  /// The references that a step names, by port.
  private mutating func written(
    _ step: StepDefinition, _ descriptor: StageDescriptor, _ references: [DocumentNode.Entry]
  ) -> [PortName: [Located<String>]] {
    var written: [PortName: [Located<String>]] = [:]
    switch step.from {
    case .ordered(let list):
      var rest = list[...]
      for port in descriptor.inputs where !rest.isEmpty {
        let count = port.isList ? rest.count : 1
        written[port.name] = Array(rest.prefix(count))
        rest = rest.dropFirst(count)
      }
      if let extra = rest.first {
        sourceProblems.append(
          Problem(
            at: extra.location, "\(descriptor.kind) has no input left for \"\(extra.value)\"",
            allowed: portNames(descriptor)))
      }
    case .named(let references):
      for (name, reference) in references {
        if descriptor.inputs.contains(where: { $0.name.name == name }) {
          written[PortName(name)] = [reference]
        } else {
          sourceProblems.append(
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
      let isList = descriptor.inputs.contains { $0.name.name == entry.key && $0.isList }
      guard let texts = texts(entry.value, isList: isList) else {
        sourceProblems.append(
          Problem(
            at: entry.value.location, "\(entry.key) of \(descriptor.kind) names an input or a step",
            allowed: isList ? "$input, step, or a list of them" : "$input, step"))
        continue
      }
      written[PortName(entry.key)] = texts
    }
    return written
  }

  /// A text, or, if allowed, a list of texts; nil for anything else.
  private func texts(_ node: DocumentNode, isList: Bool) -> [Located<String>]? {
    switch node.content {
    case .scalar(let text, _): return [Located(text, at: node.location)]
    case .sequence(let nodes) where isList:
      let found = nodes.compactMap { texts($0, isList: false) }
      return found.count == nodes.count && !nodes.isEmpty ? found.flatMap { $0 } : nil
    default: return nil
    }
  }

  /// Resolves a written reference: several sources only for a list of files; none if the source is
  /// absent, or wrong, which is a problem.
  private mutating func resolve(
    _ reference: Located<String>, for port: Port, of descriptor: StageDescriptor
  ) -> [StepSource] {
    if reference.value.hasPrefix("$") {
      let name = String(reference.value.dropFirst())
      guard let input = definition.inputs.first(where: { $0.name == name }) else {
        reportNoInput(reference, descriptor)
        return []
      }
      if port.kind == .sound, port.intake == .made {
        sourceProblems.append(
          Problem(
            at: reference.location,
            "\(descriptor.kind) takes decoded sound, and $\(name) is a recording",
            allowed: "the output of a decode stage"))
      } else if input.kind != port.kind {
        report(reference, port, descriptor, found: input.kind)
      } else if input.isList, !port.isList {
        sourceProblems.append(
          Problem(
            at: reference.location,
            "\(port.name) of \(descriptor.kind) takes one file, and $\(name) is a list",
            allowed: "an input without +"))
      }
      return input.names(in: assumed).map { .input($0) }
    }
    if port.kind == .sound, port.intake == .recording {
      sourceProblems.append(
        Problem(
          at: reference.location,
          "\(descriptor.kind) opens a recording, and \"\(reference.value)\" is none",
          allowed: definition.inputs.filter { $0.kind == .sound }.map { "$\($0.name)" }
            .joined(separator: ", ")))
      return []
    }
    let parts = reference.value.split(separator: ".", maxSplits: 1).map(String.init)
    guard let step = above.first(where: { $0.id.name == parts.first }) else {
      let names = above.filter { $0.isOffered }.map(\.id.name)
      let isBelow = definition.steps.contains { $0.id?.value == parts.first }
      sourceProblems.append(
        Problem(
          at: reference.location,
          isBelow
            ? "\"\(reference.value)\" stands below, and a step can only read those above"
            : "there is no step \"\(reference.value)\" above",
          allowed: names.isEmpty ? nil : names.joined(separator: ", "),
          suggestion: Problem.nearest(to: parts.first ?? "", in: names)
            ?? Self.startMeant(by: reference.value, descriptor)))
      return []
    }
    if step.isUnknown { return [] }
    let wanted = parts.dropFirst().first
    guard
      let output = step.outputs.first(where: {
        wanted == nil ? $0.kind == port.kind : $0.name.name == wanted
      })
    else {
      if let wanted {
        sourceProblems.append(
          Problem(
            at: reference.location, "\(step.id) has no output \"\(wanted)\"",
            allowed: step.outputs.map(\.name.name).joined(separator: ", ")))
      } else {
        report(reference, port, descriptor, found: step.outputs.first?.kind)
      }
      return []
    }
    if output.kind != port.kind { report(reference, port, descriptor, found: output.kind) }
    guard step.isSkipped else { return [.step(step.id, output.name)] }
    guard output.kind == step.bypassKind else { return [] }
    return bypass(of: step, to: port, of: descriptor, at: reference.location)
  }

  /// Reports a `$name` where a source is wanted that is no input: a variable has a value and no files.
  private mutating func reportNoInput(
    _ reference: Located<String>, _ descriptor: StageDescriptor
  ) {
    let name = String(reference.value.dropFirst())
    guard definition.variables.contains(where: { $0.name == name }) else {
      return reportUnknownName(name, at: reference.location)
    }
    let sources = definition.inputs.map { "$\($0.name)" } + above.filter(\.isOffered).map(\.id.name)
    sourceProblems.append(
      Problem(
        at: reference.location, "$\(name) is a variable, and no input or step",
        allowed: sources.isEmpty ? nil : sources.joined(separator: ", "),
        suggestion: Self.startMeant(by: reference.value, descriptor)))
  }

  /// What was probably meant by a time after `from`, which names sources: `start: 1:00`.
  private static func startMeant(by text: String, _ descriptor: StageDescriptor) -> String? {
    let isTime = text.first?.isWholeNumber == true || text.first == "$"
    return isTime && descriptor.parameters.contains { $0.name == "start" } ? "start: \(text)" : nil
  }

  /// The default source: the nearest step above with such an output, or, for a port that takes
  /// recordings, the pipeline's only input of the kind.
  private mutating func nearest(
    above step: StepDefinition, _ port: Port, _ descriptor: StageDescriptor
  ) -> [StepSource] {
    let inputs = definition.inputs.filter { $0.kind == port.kind }
    // The skipped steps between that have nothing of their own to pass, or a choice.
    var silent: [Above] = []
    if port.intake != .recording {
      for candidate in above.reversed() {
        if candidate.isUnknown, candidate.outputs.isEmpty {
          return [.step(candidate.id, port.name)]
        }
        guard let output = candidate.outputs.first(where: { $0.kind == port.kind })
        else { continue }
        if candidate.isSkipped, candidate.bypasses.count != 1 || candidate.bypassKind != port.kind {
          silent.append(candidate)
          continue
        }
        if case .input? = candidate.bypasses.first, !candidate.isOfList { continue }
        // The author says that one takes the other's place.
        if let silent = silent.first(where: { !candidate.isAlternative(to: $0) }) {
          if silent.hasChoice(of: port.kind) { break }
          noteAbsence(
            Problem(
              at: step.kind.location,
              "\(descriptor.kind) stands below \(silent.id), which is skipped, and would take the "
                + "\(port.kind.rawValue) of \(candidate.id)",
              allowed: "from: \(silent.id), to be skipped with it, or from: \(candidate.id)"))
          return []
        }
        return candidate.isSkipped
          ? bypass(of: candidate, to: port, of: descriptor, at: step.kind.location)
          : [.step(candidate.id, output.name)]
      }
    }
    if let unclear = silent.first(where: { $0.hasChoice(of: port.kind) }) {
      return bypass(of: unclear, to: port, of: descriptor, at: step.kind.location)
    }
    if !silent.isEmpty { return [] }
    if port.intake != .made, inputs.count == 1, let only = inputs.first,
      port.isList || !only.isList
    {
      return only.names(in: assumed).map { .input($0) }
    }
    let advice =
      port.intake != .made
      ? inputs.map { "from: $\($0.name)" }.joined(separator: ", ")
      : port.kind == .sound ? "put decode above it" : "from: \(port.name)"
    sourceProblems.append(
      Problem(
        at: step.kind.location,
        "\(descriptor.kind) has nothing to take its \(port.name) from",
        allowed: advice.isEmpty ? nil : advice))
    return []
  }

  private mutating func report(
    _ reference: Located<String>, _ port: Port, _ descriptor: StageDescriptor,
    found: ArtifactKind?
  ) {
    sourceProblems.append(
      Problem(
        at: reference.location,
        "\(port.name) of \(descriptor.kind) takes \(port.kind.rawValue), and "
          + "\"\(reference.value)\" gives \(found?.rawValue ?? "nothing")"))
  }

  private func portNames(_ descriptor: StageDescriptor) -> String {
    descriptor.inputs.map(\.name.name).joined(separator: ", ")
  }

  /// Reports a `$name` in a parameter that is no variable: an input has files and no value.
  mutating func reportNoVariable(_ name: String, at location: SourceLocation) {
    guard let input = definition.inputs.first(where: { $0.name == name }) else {
      return reportUnknownName(name, at: location)
    }
    let names = definition.variables.map { "$\($0.name)" }
    sourceProblems.append(
      Problem(
        at: location, "$\(name) is an input of \(input.kind.rawValue), and no variable",
        allowed: "a value, or "
          + (names.isEmpty
            ? "a variable: vars: { title: Untitled } makes $title one"
            : names.joined(separator: ", "))
          + "; in names of files, {stem} is the name of the recording"))
  }

  /// Reports a `$name` that is neither an input nor a variable.
  mutating func reportUnknownName(_ name: String, at location: SourceLocation) {
    let names = definition.inputs.map(\.name) + definition.variables.map(\.name)
    sourceProblems.append(
      Problem(
        at: location, "there is no input or variable \"$\(name)\"",
        allowed: names.isEmpty ? nil : names.map { "$\($0)" }.joined(separator: ", "),
        suggestion: Problem.nearest(to: name, in: names).map { "$\($0)" }))
  }
}
