package import Platform

/// A validated pipeline bound to stage kinds and real inputs: the steps to run, in order.
package struct Plan: Sendable {
  package let name: String
  /// The input files, by input name.
  package private(set) var files: [String: SourceFile]
  package let inputKinds: [String: ArtifactKind]
  /// The names of all given inputs, in the pipeline's order.
  private let inputOrder: [String]
  /// In the pipeline's order: a step follows those that it reads.
  package internal(set) var steps: [BoundStep]
  package internal(set) var skipped: [SkippedStep]

  /// The names of the input files, by input name.
  package var inputs: [String: String] { files.mapValues(\.name) }

  /// The inputs' names, in the pipeline's order, and those of a list in the order of its files.
  package var inputNames: [String] { inputOrder.filter { files[$0] != nil } }

  /// The names of the input files, in that order.
  package var inputPaths: [String] { inputNames.compactMap { files[$0]?.name } }

  /// The first recording among the given inputs, in the pipeline's order; nil if there is none.
  private var firstRecording: String? { inputOrder.first { inputKinds[$0] == .sound } }

  package func step(_ id: StepID) -> BoundStep? { steps.first { $0.id == id } }

  /// The same plan for other files. The same inputs must be given: the steps depend on which are
  /// there.
  package func with(files: [String: SourceFile]) -> Plan {
    precondition(Set(files.keys) == Set(self.files.keys), "other inputs are another plan")
    var plan = self
    plan.files = files
    return plan
  }

  /// The first step that asks for a receipt of the run; nil if none does.
  package var receiptStep: BoundStep? { steps.first { $0.stage.receipt != nil } }

  /// The steps that export files, without those that only write a receipt.
  package var exportingSteps: [BoundStep] {
    steps.filter { $0.stage is any PublishingStage && $0.stage.receipt == nil }
  }

  /// Binds a definition to stage kinds and files, and validates it.
  /// - Parameters:
  ///   - inputs: the files, by input name.
  ///   - overrides: the values of `--set`, by variable name.
  ///   - checksEquipment: whether equipment that this machine lacks is a problem.
  /// - Throws: every problem at once.
  package init(
    _ definition: PipelineDefinition, catalog: StageCatalog, inputs: [String: String],
    overrides: [String: DocumentNode] = [:], checksEquipment: Bool = false
  ) throws(PlanError) {
    var binder = Binder(
      definition, catalog: catalog, given: Set(inputs.keys), overrides: overrides,
      checksEquipment: checksEquipment)
    binder.bind()
    guard binder.problems.isEmpty else { throw PlanError(problems: binder.problems) }
    self.init(binder, definition, inputs: inputs)
    let clashes = nameClashes(at: binder.locations)
    if !clashes.isEmpty { throw PlanError(problems: clashes) }
  }

  private init(_ binder: Binder, _ definition: PipelineDefinition, inputs: [String: String]) {
    name = definition.name
    files = inputs.mapValues { SourceFile($0) }
    let given = Set(inputs.keys)
    let kinds = definition.inputs.flatMap { input in
      input.names(in: given).map { ($0, input.kind) }
    }
    inputKinds = Dictionary(kinds, uniquingKeysWith: { first, _ in first })
    inputOrder = kinds.map(\.0)
    steps = binder.steps
    skipped = binder.skipped
  }

  /// Every problem of a definition independent of its inputs, and the equipment that its stages
  /// lack on this machine. Every input counts as given; what is the matter without each optional
  /// input, and without all of them, is among it.
  package static func problems(
    in definition: PipelineDefinition, catalog: StageCatalog,
    overrides: [String: DocumentNode] = [:]
  ) -> [Problem] {
    let given = Set(definition.inputs.flatMap(\.leastNames))
    var binder = Binder(
      definition, catalog: catalog, given: given, overrides: overrides, checksEquipment: true)
    binder.bind()
    guard binder.problems.isEmpty else { return binder.problems }
    let absences = Binder.absenceProblems(in: definition, catalog: catalog, overrides: overrides)
    guard absences.isEmpty else { return absences }
    let files = Dictionary(uniqueKeysWithValues: given.map { ($0, "/\($0)") })
    return Plan(binder, definition, inputs: files).nameClashes(at: binder.locations)
  }

  /// The input files of a step, by port.
  package func files(of step: BoundStep) -> [PortName: SourceFile] {
    step.sources.compactMapValues { source in
      if case .input(let name) = source { files[name] } else { nil }
    }
  }

  /// The input recordings of a step's work, nearest first, then its transcripts. A receipt has
  /// those of all that it covers. A step that reads only transcripts has the run's first recording,
  /// if there is one: a transcript is one of a recording, and its exports have the recording's name
  /// and go with it.
  package func recordings(of id: StepID) -> [String] {
    var found: [String] = []
    var queue = step(id)?.stage.receipt != nil ? exportingSteps.map(\.id) : [id]
    // Words are of the recording that was heard, and not of others in a mix whose figures moved them.
    var measured: [StepID] = []
    while !queue.isEmpty || !measured.isEmpty {
      let next = queue.isEmpty ? measured.removeFirst() : queue.removeFirst()
      guard let step = step(next) else { continue }
      for port in step.descriptor.inputs {
        for source in step.sources(of: port) {
          switch source {
          case .input(let name): if !found.contains(name) { found.append(name) }
          case .step(let upstream, _) where port.kind == .measurement: measured.append(upstream)
          case .step(let upstream, _): queue.append(upstream)
          }
        }
      }
    }
    let transcripts = found.filter { inputKinds[$0] == .transcript }
    let recordings = found.filter { inputKinds[$0] != .transcript }
    guard recordings.isEmpty, !transcripts.isEmpty else { return recordings + transcripts }
    return [firstRecording].compactMap { $0 }.filter { files[$0] != nil } + transcripts
  }
}

package struct BoundStep: Sendable {
  package let id: StepID
  package let registration: StageRegistration
  /// With defaults, in base units.
  package let parameters: Value
  package let stage: any Stage
  /// The sources of its inputs, by port, or by the place in a port's list; an unconnected optional
  /// port is absent.
  package let sources: [PortName: StepSource]
  /// Whether its output is kept in the store.
  package let keep: Bool
  /// The number of attempts.
  package let attempts: Int
  /// In seconds; nil for none.
  package let timeout: Double?

  package var descriptor: StageDescriptor { registration.descriptor }

  /// The sources of its inputs, in the order of the ports and of their lists.
  package var orderedSources: [(place: PortName, source: StepSource)] {
    descriptor.inputs.flatMap { port in
      places(of: port).compactMap { place in sources[place].map { (place, $0) } }
    }
  }

  /// A port's sources; several for a list.
  package func sources(of port: Port) -> [StepSource] {
    places(of: port).compactMap { sources[$0] }
  }

  private func places(of port: Port) -> [PortName] {
    port.isList ? (0..<sources.count).map { port.place($0 + 1) } : [port.name]
  }

  /// The parameters that can change the artifacts. What people have corrected is no output of another
  /// step, and so no input, but a parameter of this one.
  private func keyParameters(_ corrected: StepOutput?) -> Value {
    guard case .group(var members) = parameters else { return parameters }
    let outside = Set(descriptor.parameters.filter { !$0.isInKey }.map(\.name))
    if let corrected { members[PortName.corrected.name] = .text(corrected.identity.hex) }
    return .group(members.filter { !outside.contains($0.key) })
  }

  /// The components of its checkpoint's key, given its inputs' identities.
  package func keyComponents(inputs: [PortName: StepOutput]) -> KeyComponents {
    let outside = Set(descriptor.inputs.filter { !$0.isInKey }.map(\.name))
    return KeyComponents(
      kind: descriptor.kind, revision: descriptor.revision,
      parameters: keyParameters(inputs[.corrected]).canonicalJSON,
      inputs: inputs.filter { $0.key != .corrected && !outside.contains($0.key) }
        .mapValues(\.identity), libraries: libraries)
  }

  /// What its output depends on besides its inputs and parameters, as it is now: the versions of
  /// libraries, and the digests of a plugin and of the files that it reads.
  package var libraries: [String: String] {
    registration.libraries().merging(
      (stage as? any VersionedStage)?.libraries ?? [:], uniquingKeysWith: { $1 })
  }
}

package enum StepSource: Hashable, Sendable {
  /// An input file.
  case input(String)
  case step(StepID, PortName)
}

package struct SkippedStep: Hashable, Sendable {
  package let id: StepID
  package let kind: String
  package let reason: String
}

/// A pipeline that cannot be run.
package struct PlanError: Error, Sendable {
  /// In the order of the file.
  package let problems: [Problem]

  package init(problems: [Problem]) {
    self.problems = problems.sorted {
      ($0.location ?? SourceLocation(line: 0, column: 0))
        < ($1.location ?? SourceLocation(line: 0, column: 0))
    }
  }
}

extension Plan {
  /// Steps whose exports would replace others of the same run.
  /// - Parameter locations: where the steps are.
  func nameClashes(at locations: [StepID: SourceLocation]) -> [Problem] {
    var owners: [String: StepID] = [:]
    var problems: [Problem] = []
    for step in steps {
      guard let stage = step.stage as? any PublishingStage else { continue }
      let files = recordings(of: step.id).compactMap { inputs[$0] }
      let names = stage.conceivableFileNames(of: step.id, recordings: files)
      if let name = names.first(where: { owners[$0] != nil }), let owner = owners[name] {
        let other = step.descriptor.naming(step.id.name, insteadOf: name)
        problems.append(
          Problem(
            at: locations[step.id], "\(step.id) writes files of the same names as \(owner)",
            allowed: other.map { "another name for one of them, such as \($0)" }
              ?? "one \(step.descriptor.kind), whose files' names are fixed"))
      }
      for name in names where owners[name] == nil { owners[name] = step.id }
    }
    return problems
  }

  /// The steps that treat a batch's recordings as an album, in order.
  package var albumSteps: [StepID] {
    steps.filter { $0.stage.album != nil }.map(\.id)
  }

  /// The plan that surveys a recording for an album step: the steps above it, and the survey in its
  /// place.
  /// - Returns: nil if the step does not run here, or is no album step.
  package func surveying(
    _ id: StepID, with parameters: [String: Double]
  ) throws(SpoolError) -> Plan? {
    guard let step = step(id), let registration = step.stage.album?.survey,
      let port = step.descriptor.inputs.first?.name, let source = step.sources[port]
    else { return nil }
    let value = Value.group(parameters.mapValues { .number($0) })
    let survey = BoundStep(
      id: id, registration: registration, parameters: value,
      stage: try registration.make(value), sources: [port: source], keep: false,
      attempts: step.attempts, timeout: step.timeout)
    let needed = ancestors(of: id)
    var plan = self
    plan.steps = steps.filter { needed.contains($0.id) } + [survey]
    plan.skipped = []
    return plan
  }

  /// The part of the plan that a step's outputs need: the steps above it, and itself. Nil if there is
  /// no such step.
  package func leading(to id: StepID) -> Plan? {
    guard step(id) != nil else { return nil }
    let needed = ancestors(of: id).union([id])
    var plan = self
    plan.steps = steps.filter { needed.contains($0.id) }
    plan.skipped = []
    let inputs = plan.steps.flatMap(\.sources.values).compactMap { source -> String? in
      if case .input(let name) = source { name } else { nil }
    }
    plan.files = files.filter { inputs.contains($0.key) }
    return plan
  }

  /// The plan with the results for its album steps.
  package func settled(_ figures: AlbumFigures) throws(SpoolError) -> Plan {
    guard !figures.isEmpty else { return self }
    let album = Set(albumSteps)
    var plan = self
    var steps: [BoundStep] = []
    for step in self.steps {
      guard album.contains(step.id), let found = figures[step.id],
        case .group(let members) = step.parameters
      else {
        steps.append(step)
        continue
      }
      let value = Value.group(
        members.merging(found.mapValues { .number($0) }) { _, settled in settled })
      steps.append(
        BoundStep(
          id: step.id, registration: step.registration, parameters: value,
          stage: try step.registration.make(value), sources: step.sources, keep: step.keep,
          attempts: step.attempts, timeout: step.timeout))
    }
    plan.steps = steps
    return plan
  }

  /// The steps that a step depends on.
  package func ancestors(of id: StepID) -> Set<StepID> {
    var found: Set<StepID> = []
    var queue = [id]
    while let next = queue.popLast() {
      for case .step(let upstream, _) in step(next)?.sources.values.map({ $0 }) ?? [] {
        if found.insert(upstream).inserted { queue.append(upstream) }
      }
    }
    return found
  }
}

/// The steps above a published step, and their known outputs. A pure value.
package struct UpstreamOutputs: Sendable {
  private let plan: Plan
  private let finished: [StepID: [PortName: StepOutput]]

  /// - Parameter finished: the outputs of the steps that are done.
  package init(_ plan: Plan, finished: [StepID: [PortName: StepOutput]]) {
    self.plan = plan
    self.finished = finished
  }

  /// The steps that lead to the first input of `id`, from the beginning, without `id` itself.
  /// Follows the first input of each step. O(steps²).
  package func chain(to id: StepID) -> [BoundStep] {
    var chain: [BoundStep] = []
    var next = source(of: id)
    while case .step(let above, _) = next, let step = plan.step(above) {
      chain.append(step)
      next = source(of: above)
    }
    return chain.reversed()
  }

  /// The way of a recording's sound to a step.
  package struct Way: Sendable {
    /// The pipeline's input.
    package let input: String
    package let recording: SourceFile
    /// The steps from the recording on, without the step itself, each with the number of the source at
    /// which the sound comes in, counted from 1.
    package let steps: [(step: BoundStep, source: Int)]
  }

  /// The ways of all recordings that the sound of a step's first input is made of, in the order of the
  /// inputs. Of a step that several take, the first counts; or each, up to 1000. O(steps² · ways).
  package func ways(to id: StepID, byEach isEach: Bool = false) -> [Way] {
    var ways: [Way] = []
    var visited: Set<StepID> = []
    var waiting: [(source: StepSource?, steps: [(step: BoundStep, source: Int)])] = [
      (source(of: id), [])
    ]
    while let (source, steps) = waiting.popLast() {
      switch source {
      case .input(let name):
        guard plan.inputKinds[name] == .sound, let file = plan.files[name] else { continue }
        ways.append(Way(input: name, recording: file, steps: steps))
      case .step(let above, _):
        guard visited.insert(above).inserted || isEach && ways.count < 1000,
          let step = plan.step(above), let port = step.descriptor.inputs.first
        else { continue }
        waiting += step.sources(of: port).enumerated().reversed().map { index, source in
          (source, [(step, index + 1)] + steps)
        }
      case nil: continue
      }
    }
    return ways
  }

  /// The input that a step names as the recording that counts; nil if it names none.
  package func recordingNamed(by id: StepID) -> String? {
    guard let step = plan.step(id) else { return nil }
    return step.descriptor.inputs.filter { !$0.isInKey }.lazy.compactMap { port in
      if case .input(let name)? = step.sources[port.name] { name } else { nil }
    }.first
  }

  /// The other steps with the same first input as `id`, in the plan's order.
  package func peers(of id: StepID) -> [BoundStep] {
    guard let source = source(of: id) else { return [] }
    return plan.steps.filter { $0.id != id && self.source(of: $0.id) == source }
  }

  /// A step's outputs; nil while it is not done.
  package func outputs(of id: StepID) -> [PortName: StepOutput]? { finished[id] }

  private func source(of id: StepID) -> StepSource? {
    plan.step(id)?.orderedSources.first?.source
  }
}
