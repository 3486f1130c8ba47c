extension Plan {
  /// The steps that treat the recordings of a batch as one, in order.
  public var albumSteps: [StepID] {
    steps.filter { ($0.stage as? any AlbumStage)?.isAlbum ?? false }.map(\.id)
  }

  /// The plan that surveys a recording for an album step: what stands above it, and the survey in
  /// its place.
  /// - Returns: nil where the step does not run here, or treats this recording alone.
  public func surveying(
    _ id: StepID, with parameters: [String: Double]
  ) throws(StageError) -> Plan? {
    guard let step = step(id), let stage = step.stage as? any AlbumStage, stage.isAlbum,
      let port = step.descriptor.inputs.first?.name, let source = step.sources[port]
    else { return nil }
    let registration = type(of: stage).albumSurvey
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

  /// The plan with what was settled for its album steps.
  public func settled(_ figures: AlbumFigures) throws(StageError) -> Plan {
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

  /// The steps whose work a step needs.
  private func ancestors(of id: StepID) -> Set<StepID> {
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
