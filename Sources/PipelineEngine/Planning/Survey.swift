import PipelineModel
import Platform

/// The state of every step before the next piece of work: its key, and its checkpoint if there is
/// one.
struct Survey {
  enum Finding {
    case done(Checkpoint)
    /// Pending; its key is known.
    case pending(KeyComponents)
    /// Pending; its key depends on work that is not done yet.
    case undetermined
  }

  private(set) var findings: [StepID: Finding] = [:]
  private let plan: Plan
  /// What earlier runs had of work that is gone, by its key.
  private let remembered: [Checkpoint.Key: [PortName: StepOutput]]
  /// The corrected words of steps, as the stages write transcripts.
  private(set) var corrected: [StepID: String] = [:]

  /// Looks up every step, in order.
  /// - Parameters:
  ///   - recordings: the identities of the plan's inputs.
  ///   - remembered: what earlier runs had of steps, by their keys, for a forecast: a step that is
  ///     pending gives the same again.
  ///   - corrected: gives the words at a step's input with their corrections.
  init(
    _ plan: Plan, recordings: [String: StepOutput], store: any ArtifactStore,
    remembered: [Checkpoint.Key: [PortName: StepOutput]] = [:],
    corrected: (StepOutput, BoundStep, Survey) throws(SpoolError) -> CorrectedWords
  ) throws(SpoolError) {
    self.plan = plan
    self.remembered = remembered
    for step in plan.steps {
      var inputs = inputs(of: step, recordings: recordings)
      if let words = step.stage.correctedInput.flatMap({ inputs?[$0] }) {
        switch try corrected(words, step, self) {
        case .unchanged: break
        case .unknown: inputs = nil
        case .changed(let text):
          self.corrected[step.id] = text
          inputs = self.inputs(of: step, recordings: recordings)
        }
      }
      findings[step.id] = try Survey.finding(of: step, inputs: inputs, store: store)
    }
  }

  private static func finding(
    of step: BoundStep, inputs: [PortName: StepOutput]?, store: any ArtifactStore
  ) throws(SpoolError) -> Finding {
    guard let inputs else { return .undetermined }
    let components = step.keyComponents(inputs: inputs)
    if let checkpoint = try store.checkpoint(for: components.key) { return .done(checkpoint) }
    return .pending(components)
  }

  /// Nil while one of them is unknown.
  func inputs(
    of step: BoundStep, recordings: [String: StepOutput]
  ) -> [PortName: StepOutput]? {
    var inputs: [PortName: StepOutput] = [:]
    for (port, source) in step.sources {
      switch source {
      case .input(let name): inputs[port] = recordings[name]
      case .step(let id, let output):
        guard let upstream = plan.step(id), let given = outputs(of: upstream)[output] else {
          return nil
        }
        inputs[port] = given
      }
    }
    if let text = corrected[step.id] {
      inputs[.corrected] = StepOutput(kind: .transcript, identity: SHA256.digest(of: text))
    }
    return inputs
  }

  /// The known outputs: a filter's follow from its key alone.
  func outputs(of step: BoundStep) -> [PortName: StepOutput] {
    switch findings[step.id] {
    case .done(let checkpoint): return checkpoint.outputs
    case .pending(let components):
      return step.derivedOutputs(components)
        .merging(remembered[components.key] ?? [:]) { derived, _ in derived }
    case .undetermined, nil: return [:]
    }
  }

  /// The steps' states for the planner.
  var status: [StepID: PassPlanner.Status] {
    var status: [StepID: PassPlanner.Status] = [:]
    for step in plan.steps {
      guard case .done(let checkpoint) = findings[step.id] else {
        status[step.id] = .pending
        continue
      }
      let stream = step.descriptor.outputs.first.flatMap { checkpoint.outputs[$0.name] }
      status[step.id] = .done(isKept: stream?.artifact != nil)
    }
    return status
  }

  mutating func record(_ checkpoint: Checkpoint, for id: StepID) {
    findings[id] = .done(checkpoint)
  }

  func checkpoint(of id: StepID) -> Checkpoint? {
    if case .done(let checkpoint) = findings[id] { return checkpoint }
    return nil
  }
}

extension BoundStep {
  /// The outputs that follow from the key alone: those of filters.
  func derivedOutputs(_ components: KeyComponents) -> [PortName: StepOutput] {
    guard case .streaming(_, let role) = descriptor.flow,
      role == .filter || role == .analysedFilter, let port = descriptor.outputs.first
    else { return [:] }
    return [
      port.name: StepOutput(
        kind: port.kind, identity: components.derivedIdentity(of: port.name))
    ]
  }
}
