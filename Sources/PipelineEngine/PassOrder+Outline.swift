import PipelineModel

extension PassOrder {
  /// Fills a planner's outline with the steps, what they noted before, and where the stream comes
  /// from. The steps of the path that are not `pending` are only streamed again.
  init(
    _ outline: PassPlanner.Outline, plan: Plan, survey: Survey, pending: Set<StepID>
  ) throws(PassFailure) {
    var members: [Member] = []
    for id in outline.path {
      guard let step = plan.step(id) else { continue }
      members.append(
        Member(
          step: step, memo: survey.checkpoint(of: id)?.memo, isPending: pending.contains(id),
          isKept: outline.kept.contains(id)))
    }
    path = members
    listeners = outline.listeners.compactMap { listener in
      plan.step(listener.step).map { step in
        Listener(
          step: step, at: listener.at,
          inputs: PassOrder.inputs(
            Array(step.orderedSources.dropFirst()), plan: plan, survey: survey))
      }
    }
    start = try PassOrder.start(of: outline, plan: plan, survey: survey)
    timeout = (members.filter(\.isPending).map(\.step) + listeners.map(\.step))
      .compactMap(\.timeout).min()
  }

  private static func start(
    of outline: PassPlanner.Outline, plan: Plan, survey: Survey
  ) throws(PassFailure) -> Start {
    if let id = outline.start, let step = plan.step(id),
      let port = step.descriptor.outputs.first,
      let artifact = survey.checkpoint(of: id)?.outputs[port.name]?.artifact
    {
      return .kept(id, artifact)
    }
    guard let source = outline.path.first.flatMap({ plan.step($0) }),
      case .streaming(_, .source) = source.descriptor.flow,
      source.descriptor.inputs.isEmpty || !source.sources.isEmpty
    else {
      throw PassFailure(
        outline.path.first, StageError("the step reads neither a recording nor kept sound"))
    }
    return .opened(inputs(source.orderedSources, plan: plan, survey: survey))
  }

  /// Where sources lie.
  private static func inputs(
    _ sources: [(place: PortName, source: StepSource)], plan: Plan, survey: Survey
  ) -> [SourceInput] {
    sources.compactMap { place, source in
      switch source {
      case .input(let name):
        plan.inputs[name].map {
          SourceInput(place: place, origin: .recording(input: name, path: $0))
        }
      case .step(let id, let port):
        SourceInput(
          place: place,
          origin: survey.checkpoint(of: id)?.outputs[port]?.artifact.map { .kept(id, $0) }
            ?? .awaited(id))
      }
    }
  }
}
