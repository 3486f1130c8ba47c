/// Where a step's work comes from, for whoever publishes it: the steps above, and what those that
/// are done have given. A pure value.
public struct Lineage: Sendable {
  private let plan: Plan
  private let finished: [StepID: [PortName: StepOutput]]

  /// - Parameter finished: the outputs of the steps that are done.
  public init(_ plan: Plan, finished: [StepID: [PortName: StepOutput]]) {
    self.plan = plan
    self.finished = finished
  }

  /// The steps that lead to what `id` takes first, from the beginning on, without `id` itself. Where
  /// a step takes several things, the first one is followed. O(steps²).
  public func chain(to id: StepID) -> [BoundStep] {
    var chain: [BoundStep] = []
    var next = source(of: id)
    while case .step(let above, _) = next, let step = plan.step(above) {
      chain.append(step)
      next = source(of: above)
    }
    return chain.reversed()
  }

  /// The other steps that take the very same thing first as `id` does, in the plan's order.
  public func peers(of id: StepID) -> [BoundStep] {
    guard let source = source(of: id) else { return [] }
    return plan.steps.filter { $0.id != id && self.source(of: $0.id) == source }
  }

  /// What a step gave; nil while it is not done.
  public func outputs(of id: StepID) -> [PortName: StepOutput]? { finished[id] }

  private func source(of id: StepID) -> StepSource? {
    plan.step(id)?.orderedSources.first?.source
  }
}
