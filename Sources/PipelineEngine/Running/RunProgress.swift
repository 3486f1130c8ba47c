import PipelineModel
import Platform

/// The bookkeeping of a run: the state of each step.
struct RunProgress {
  var record: RunRecord
  /// Whether nothing was done yet in this run.
  private(set) var isFirstWork = true
  var hasBegun: Bool { record.steps.contains { $0.begunAt != nil } }
  /// Whether no step was begun, or found done.
  var isUntouched: Bool {
    !hasBegun && record.steps.allSatisfy { [.pending, .skipped].contains($0.outcome) }
  }
  /// How long the rest takes; nil if it is not estimated.
  var estimate: WorkEstimate?
  /// Bytes of unfinished files that the current work has left for a resuming run.
  var heldByteCount = 0
  private let clock: any RunClock
  private let began: Double

  init(_ record: RunRecord, plan: Plan, clock: any RunClock) {
    self.clock = clock
    began = clock.elapsed
    self.record = record
    self.record.steps = plan.steps.map {
      StepRecord(id: $0.id, kind: $0.descriptor.kind, outcome: .pending)
    }
    self.record.steps += plan.skipped.map {
      StepRecord(id: $0.id, kind: $0.kind, outcome: .skipped)
    }
  }

  /// Records the recordings' identities, by input name.
  mutating func identify(_ recordings: [String: StepOutput]) {
    record.recordings = recordings.mapValues(\.identity)
  }

  /// Records the steps that had checkpoints, and returns the new ones. A receipt or a delivery has no work
  /// of its own: whether it exists shows when it is to be written or queued.
  mutating func takeReused(
    _ survey: Survey, of plan: Plan, store: any ArtifactStore
  ) -> [(StepID, Checkpoint)] {
    var news: [(StepID, Checkpoint)] = []
    for index in record.steps.indices where record.steps[index].outcome == .pending {
      let id = record.steps[index].id
      let stage = plan.step(id)?.stage
      guard stage?.receipt == nil, stage?.delivery == nil,
        let checkpoint = survey.checkpoint(of: id)
      else { continue }
      fill(index, checkpoint, .reused, store: store)
      news.append((record.steps[index].id, checkpoint))
    }
    return news
  }

  /// Records a receipt's or a delivery's step whose checkpoint was there.
  /// - Parameter wasThere: whether its files were there too.
  /// - Returns: whether it was not recorded yet.
  mutating func settleLast(
    _ step: StepID, _ checkpoint: Checkpoint, wasThere: Bool, store: any ArtifactStore
  ) -> Bool {
    guard let index = record.steps.firstIndex(where: { $0.id == step && $0.outcome == .pending })
    else { return false }
    fill(index, checkpoint, wasThere ? .reused : .made, store: store)
    return true
  }

  /// Records what was warned of, by step.
  mutating func note(_ warnings: [StepID: [String]]) {
    for index in record.steps.indices {
      record.steps[index].warnings = warnings[record.steps[index].id]
    }
  }

  /// Records that steps are in progress.
  mutating func begin(_ steps: [StepID]) {
    for index in record.steps.indices where steps.contains(record.steps[index].id) {
      record.steps[index].begunAt = clock.now
    }
  }

  /// Records that steps were not begun after all: what they begin with could not be opened.
  mutating func takeBack(_ steps: [StepID]) {
    for index in record.steps.indices where steps.contains(record.steps[index].id) {
      record.steps[index].begunAt = nil
    }
  }

  /// Records that steps resumed at this place of the recording, in seconds.
  mutating func resume(_ steps: [StepID], at seconds: Double) {
    for index in record.steps.indices where steps.contains(record.steps[index].id) {
      record.steps[index].resumedAtSeconds = seconds
    }
  }

  /// Records why earlier work of steps was useless.
  mutating func setBack(_ setbacks: [StepID: ResumeLoss]) {
    for index in record.steps.indices {
      if let loss = setbacks[record.steps[index].id] { record.steps[index].loss = loss }
    }
  }

  /// - Parameter workSeconds: the work inside the step, in seconds; nil if unknown.
  mutating func finish(
    _ step: BoundStep, _ checkpoint: Checkpoint, workSeconds: Double?, store: any ArtifactStore
  ) -> StepRecord {
    isFirstWork = false
    guard let index = record.steps.firstIndex(where: { $0.id == step.id }) else {
      preconditionFailure("a step that is not in the plan")
    }
    fill(index, checkpoint, .made, store: store)
    record.steps[index].finishedAt = clock.now
    record.steps[index].workSeconds = workSeconds
    return record.steps[index]
  }

  /// Records the work of steps that had checkpoints and made their sound once more.
  /// - Parameter seconds: by step.
  mutating func repeatWork(_ seconds: [StepID: Double]) {
    for index in record.steps.indices where record.steps[index].outcome == .reused {
      guard let seconds = seconds[record.steps[index].id] else { continue }
      record.steps[index].workSeconds = (record.steps[index].workSeconds ?? 0) + seconds
    }
  }

  /// Records that a step that had a checkpoint gave other files than before, as a receipt that is signed
  /// again; nil if there is no such step.
  mutating func makeAgain(_ id: StepID, begunAt: Double, workSeconds: Double) -> StepRecord? {
    guard let index = record.steps.firstIndex(where: { $0.id == id }) else { return nil }
    record.steps[index].outcome = .made
    record.steps[index].begunAt = begunAt
    record.steps[index].finishedAt = clock.now
    record.steps[index].workSeconds = workSeconds
    return record.steps[index]
  }

  func outputs(of id: StepID) -> [PortName: StepOutput] {
    record.steps.first { $0.id == id }?.outputs ?? [:]
  }

  mutating func end(
    _ state: RunRecord.State, at time: Double, failure: SpoolError? = nil, step: StepID? = nil
  ) {
    record.state = state
    record.finishedAt = time
    record.activeSeconds = clock.elapsed - began
    guard let failure else { return }
    record.failureCause = failure.cause
    record.failureAdvice = failure.advice
    let text = [failure.message, failure.reason].compactMap(\.self).joined(separator: ": ")
    record.failure = (step.map { "\($0): " } ?? "") + text
    if let index = record.steps.firstIndex(where: { $0.id == step }) {
      record.steps[index].outcome = .failed
      record.steps[index].failure = text
    }
  }

  private mutating func fill(
    _ index: Int, _ checkpoint: Checkpoint, _ outcome: StepRecord.Outcome,
    store: any ArtifactStore
  ) {
    record.steps[index].fill(from: checkpoint, outcome, store: store)
  }
}

extension StepRecord {
  mutating func fill(from checkpoint: Checkpoint, _ outcome: Outcome, store: any ArtifactStore) {
    self.outcome = outcome
    key = checkpoint.key
    outputs = checkpoint.outputs
    inputs = checkpoint.components.inputs
    findings = findings(of: checkpoint, in: store)
  }

  /// What a step measured, as JSON: the stage's own measurement, or those that its program wrote, by port.
  private func findings(of checkpoint: Checkpoint, in store: any ArtifactStore) -> String? {
    func text(_ output: StepOutput) -> String? {
      output.artifact.flatMap { try? store.text(of: $0) }
    }
    if let own = checkpoint.outputs[.measurement] { return text(own) }
    let written = checkpoint.outputs.filter { $0.value.kind == .measurement }
      .compactMapValues { text($0) }.compactMapValues {
        try? JSONReader.value(of: Array($0.utf8), depthLimit: Self.depthLimit).value
      }
    if written.isEmpty { return nil }
    let named = written.map { ($0.key.name, $0.value) }
    return JSONValue.object(Dictionary(named) { first, _ in first }).compact
  }

  /// How deep findings may be nested.
  private static let depthLimit = 60
}

extension BoundStep {
  /// The checkpoint of this step's work: identities follow from the bytes, the content or the key,
  /// by the stage's role.
  func checkpoint(
    inputs: [PortName: StepOutput], result: PassOutcome.Result, earlier: Checkpoint?
  ) -> Checkpoint {
    let components = keyComponents(inputs: inputs)
    var outputs = earlier?.outputs ?? derivedOutputs(components)
    if let identity = result.identity, let port = descriptor.outputs.first {
      outputs[port.name] = StepOutput(kind: port.kind, identity: identity)
    }
    for (name, artifact) in result.artifacts {
      let identity = outputs[name]?.identity ?? artifact.digest
      outputs[name] = StepOutput(kind: artifact.kind, identity: identity, artifact: artifact)
    }
    return Checkpoint(
      components: components, outputs: outputs, memo: result.memo ?? earlier?.memo,
      hint: result.hint ?? earlier?.hint,
      warnings: earlier?.warnings ?? (result.warnings.isEmpty ? nil : result.warnings))
  }
}
