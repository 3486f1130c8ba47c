/// What becomes of a pipeline where some of its sources are not given.
extension Plan.Binder {
  /// What passes in the place of a skipped step's output: its first input. Where that is a list, it
  /// is the only one of it that was given, or the only one that a step makes.
  static func bypasses(of port: Port?, _ sources: [PortName: StepSource]) -> [StepSource] {
    guard let port else { return [] }
    guard port.isList else { return [sources[port.name]].compactMap(\.self) }
    let given = (1...max(sources.count, 1)).compactMap { sources[port.place($0)] }
    let made = given.filter { if case .step = $0 { true } else { false } }
    return made.count == 1 ? made : given
  }

  /// All that the sound of a step was made of, and itself.
  func origins(
    of id: StepID, _ connection: Connection, _ descriptor: StageDescriptor
  ) -> Set<StepSource> {
    origins(of: connection.sources.values).union(descriptor.outputs.map { .step(id, $0.name) })
  }

  private func origins(of sources: some Sequence<StepSource>) -> Set<StepSource> {
    sources.reduce(into: []) { found, source in
      found.formUnion(above.first { $0.gives(source) }?.origins ?? [source])
    }
  }

  /// Leaves out of a list what passes in the place of a skipped step where the list has that sound already,
  /// as it is or as what was made of it: it would be heard twice.
  func leaveOutRepeated(
    in found: inout [[StepSource]], _ references: [Located<String>]
  ) {
    let isPassed = references.map { reference in
      above.contains { $0.isSkipped && $0.id.name == reference.value.prefix { $0 != "." } }
    }
    var kept = origins(of: zip(found, isPassed).filter { !$0.1 }.flatMap(\.0))
    for index in found.indices where isPassed[index] {
      if !kept.isDisjoint(with: found[index]) { found[index] = [] }
      kept.formUnion(origins(of: found[index]))
    }
  }

  /// The problems that a pipeline has without each optional input and without all of them, and with each
  /// condition's variable at its other value: of what passes in the place of skipped steps, and of
  /// numbers of sounds.
  static func absenceProblems(
    in definition: PipelineDefinition, catalog: StageCatalog, overrides: [String: DocumentNode]
  ) -> [Problem] {
    let settings = [overrides] + definition.flips(of: overrides)
    let sets = definition.inputSets
    var found: [Problem] = []
    let cases = settings.flatMap { setting in sets.map { (setting, $0) } }
    for (setting, inputs) in cases.dropFirst() {
      var binder = Plan.Binder(
        definition, catalog: catalog, given: Set(inputs.flatMap(\.leastNames)),
        overrides: setting, checksEquipment: false)
      binder.bind()
      // One is enough for a step.
      for problem in binder.absenceProblems
      where !found.contains(where: { $0.location == problem.location }) {
        found.append(problem)
      }
    }
    return found
  }

  /// Notes a problem of something that is not given, unless the step is skipped in any case.
  mutating func noteAbsence(_ problem: Problem) {
    if isSkipping { return }
    sourceProblems.append(problem)
    absenceProblems.append(problem)
  }

  /// The parameters as the stage counts its sources: those that were given, without the places of the
  /// others. An element of a list that is about another one is left out; any other number of one is a
  /// problem.
  /// - Parameter absent: the numbers of the sources that were not given, counted from 1 as written.
  mutating func placed(
    _ parameters: Value, as descriptors: [ParameterDescriptor], without absent: Set<Int>,
    of owner: StepID, at location: SourceLocation
  ) -> Value {
    guard !absent.isEmpty, case .group(var members) = parameters else { return parameters }
    for descriptor in descriptors {
      guard let value = members[descriptor.name] else { continue }
      if let placed = Self.placed(value, as: descriptor, without: absent) {
        members[descriptor.name] = placed
      } else {
        noteAbsence(
          Problem(
            at: location,
            "\(descriptor.name) \(value.canonicalJSON) of \(owner) means a sound that is not given",
            allowed: "when: $input, with the name of that input"))
      }
    }
    return .group(members)
  }

  /// Nil where the value means a source that was not given.
  private static func placed(
    _ value: Value, as descriptor: ParameterDescriptor, without absent: Set<Int>
  ) -> Value? {
    switch (descriptor.places, value, descriptor.type) {
    case (.perSource, .list(let values), _):
      .list(values.enumerated().filter { !absent.contains($0.offset + 1) }.map(\.element))
    case (.source, .number(let number), _):
      place(Int(number), without: absent).map { .number(Double($0)) }
    case (.source, .text(let text), _):
      Int(text).map { place($0, without: absent).map { .text("\($0)") } } ?? value
    case (_, .list(let values), .list(let element, _)):
      .list(values.compactMap { placed($0, as: descriptor.element(element), without: absent) })
    case (_, .group(let members), .group(let descriptors)):
      placed(members, as: descriptors, without: absent)
    default: value
    }
  }

  private static func placed(
    _ members: [String: Value], as descriptors: [ParameterDescriptor], without absent: Set<Int>
  ) -> Value? {
    var result = members
    for descriptor in descriptors {
      guard let value = members[descriptor.name] else { continue }
      guard let placed = placed(value, as: descriptor, without: absent) else { return nil }
      result[descriptor.name] = placed
    }
    return .group(result)
  }

  private static func place(_ number: Int, without absent: Set<Int>) -> Int? {
    absent.contains(number) ? nil : number - absent.count { $0 < number }
  }
}

extension ParameterDescriptor {
  /// The descriptor of an element of this list.
  fileprivate func element(_ type: ParameterType) -> ParameterDescriptor {
    ParameterDescriptor(name, type, .required, summary)
  }
}
