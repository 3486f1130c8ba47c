/// A pipeline bound to stage kinds and real inputs, and checked: what would run, in order.
public struct Plan: Sendable {
  /// The pipeline's name.
  public let name: String
  /// The recordings and other files that were given, by input name.
  public private(set) var inputs: [String: String]
  /// What each of the pipeline's inputs carries.
  public let inputKinds: [String: ArtifactKind]
  /// The steps that run, in the pipeline's order; a step stands below those that it reads.
  public internal(set) var steps: [BoundStep]
  /// The steps whose condition does not hold.
  public internal(set) var skipped: [SkippedStep]

  /// The step of this name.
  public func step(_ id: StepID) -> BoundStep? { steps.first { $0.id == id } }

  /// The same plan for other files. Inputs that were given before must be given again, and no
  /// others: what runs depends on which are there.
  public func with(inputs: [String: String]) -> Plan {
    precondition(Set(inputs.keys) == Set(self.inputs.keys), "other inputs are another plan")
    var plan = self
    plan.inputs = inputs
    return plan
  }

  /// The steps that put files into the user's folder, without those that only ask for a receipt.
  public var exportingSteps: [BoundStep] {
    steps.filter { $0.stage is any PublishingStage && !($0.stage is any ReceiptStage) }
  }

  /// Binds a definition to stage kinds and files, and checks all of it.
  /// - Parameters:
  ///   - inputs: the files, by input name.
  ///   - overrides: what `--set` says, by variable name.
  ///   - checksEquipment: whether it is a problem that this machine lacks what a stage needs. Work
  ///     that was begun finds that out by itself.
  /// - Throws: every problem at once.
  public init(
    _ definition: PipelineDefinition, catalog: StageCatalog, inputs: [String: String],
    overrides: [String: DocumentNode] = [:], checksEquipment: Bool = false
  ) throws(PlanError) {
    var binder = PlanBinder(
      definition, catalog: catalog, given: Set(inputs.keys), overrides: overrides,
      checksEquipment: checksEquipment)
    binder.bind()
    guard binder.problems.isEmpty else { throw PlanError(problems: binder.problems) }
    self.init(binder, definition, inputs: inputs)
  }

  private init(_ binder: PlanBinder, _ definition: PipelineDefinition, inputs: [String: String]) {
    name = definition.name
    self.inputs = inputs
    inputKinds = Dictionary(
      definition.inputs.flatMap { input in
        input.names(in: Set(inputs.keys)).map { ($0, input.kind) }
      }, uniquingKeysWith: { first, _ in first })
    steps = binder.steps
    skipped = binder.skipped
  }

  /// Everything that is wrong with a definition whatever its inputs will be, and what its stages
  /// lack on this machine; every input counts as given.
  public static func problems(
    in definition: PipelineDefinition, catalog: StageCatalog,
    overrides: [String: DocumentNode] = [:]
  ) -> [Problem] {
    let given = Set(definition.inputs.flatMap(\.leastNames))
    var binder = PlanBinder(
      definition, catalog: catalog, given: given, overrides: overrides, checksEquipment: true)
    binder.bind()
    guard binder.problems.isEmpty else { return binder.problems }
    // Stand-ins for files: only whether two steps export the same one under the same name matters.
    let files = Dictionary(uniqueKeysWithValues: given.map { ($0, "/\($0)") })
    return Plan(binder, definition, inputs: files).nameClashes(at: binder.locations)
  }

  /// The files that a step is given as they came in, by port.
  public func files(of step: BoundStep) -> [PortName: String] {
    step.sources.compactMapValues { source in
      if case .input(let name) = source { inputs[name] } else { nil }
    }
  }

  /// The recordings that a step's work comes from, as input names, nearest first. A receipt comes
  /// from what everything that it vouches for comes from.
  public func recordings(of id: StepID) -> [String] {
    var found: [String] = []
    var queue = step(id)?.stage is any ReceiptStage ? exportingSteps.map(\.id) : [id]
    while !queue.isEmpty {
      guard let step = step(queue.removeFirst()) else { continue }
      for (_, source) in step.orderedSources {
        switch source {
        case .input(let name): if !found.contains(name) { found.append(name) }
        case .step(let upstream, _): queue.append(upstream)
        }
      }
    }
    // What is said goes by the name of the recording in which it is said.
    return found.filter { inputKinds[$0] != .transcript }
      + found.filter { inputKinds[$0] == .transcript }
  }
}

/// One step of a plan.
public struct BoundStep: Sendable {
  /// Its name.
  public let id: StepID
  /// Its stage kind.
  public let registration: StageRegistration
  /// Its parameters with defaults filled in, in base units.
  public let parameters: Value
  /// The stage, ready to run.
  public let stage: any Stage
  /// Where its inputs come from, by port, or by the place in a port's list; an unconnected optional
  /// port is absent.
  public let sources: [PortName: StepSource]
  /// Whether its output is kept in the store.
  public let keep: Bool
  /// How often it is tried in all.
  public let attempts: Int
  /// Seconds after which it is given up; nil means never.
  public let timeout: Double?

  /// All that is known about its kind.
  public var descriptor: StageDescriptor { registration.descriptor }

  /// Where its inputs come from, in the order of the ports and of their lists.
  public var orderedSources: [(place: PortName, source: StepSource)] {
    descriptor.inputs.flatMap { port in
      places(of: port).compactMap { place in sources[place].map { (place, $0) } }
    }
  }

  /// Where a port's input comes from; several where it takes a list.
  func sources(of port: Port) -> [StepSource] {
    places(of: port).compactMap { sources[$0] }
  }

  private func places(of port: Port) -> [PortName] {
    port.isList ? (0..<sources.count).map { port.place($0 + 1) } : [port.name]
  }

  /// The parameters that can change the artifacts.
  private var keyParameters: Value {
    guard case .group(let members) = parameters else { return parameters }
    let outside = Set(descriptor.parameters.filter { !$0.isInKey }.map(\.name))
    return .group(members.filter { !outside.contains($0.key) })
  }

  /// What its checkpoint's key is made of, once the identities of its inputs are known.
  public func keyComponents(inputs: [PortName: StepOutput]) -> KeyComponents {
    KeyComponents(
      kind: descriptor.kind, revision: descriptor.revision,
      parameters: keyParameters.canonicalJSON, inputs: inputs.mapValues(\.identity),
      libraries: registration.libraries().merging(
        (stage as? any VersionedStage)?.libraries ?? [:], uniquingKeysWith: { $1 }))
  }
}

/// Where a step's input comes from.
public enum StepSource: Hashable, Sendable {
  /// A file that was given.
  case input(String)
  /// What another step gives.
  case step(StepID, PortName)
}

/// A step whose condition does not hold.
public struct SkippedStep: Hashable, Sendable {
  /// Its name.
  public let id: StepID
  /// Its stage kind.
  public let kind: String
  /// Why it does not run.
  public let reason: String
}

/// A pipeline that cannot be run.
public struct PlanError: Error, Sendable {
  /// Everything that is wrong, in the order of the file.
  public let problems: [Problem]

  /// Collects the problems.
  public init(problems: [Problem]) {
    self.problems = problems.sorted {
      ($0.location ?? SourceLocation(line: 0, column: 0))
        < ($1.location ?? SourceLocation(line: 0, column: 0))
    }
  }
}
