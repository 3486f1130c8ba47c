package import Platform

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

  /// Whether a step's outputs are made of more than one sound that came into the pipeline. O(steps²).
  package func isOfSeveralRecordings(_ id: StepID) -> Bool {
    plan.recordings(of: id).count { plan.inputKinds[$0] == .sound } > 1
  }

  /// The step that gives a step what it takes at a port; nil for an input of the pipeline, or for none.
  package func source(of port: PortName, for id: StepID) -> StepID? {
    if case .step(let above, _)? = plan.step(id)?.sources[port] { above } else { nil }
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
