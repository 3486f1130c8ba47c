import PipelineModel

/// Decides, from what is done and what is kept, which piece of work comes next. A pure value: it
/// knows no clock, no store and no sound.
///
/// A pass starts at the nearest sound above the first pending step that is kept in the store, or
/// at the recording; it streams through every step on the way, takes along all the pending steps
/// that it can feed, and ends where a step must have heard everything first.
struct PassPlanner {
  /// What is known about a step.
  enum Status: Hashable {
    /// It has to be done.
    case pending
    /// It is done; `isKept` says whether its stream can be read from the store.
    case done(isKept: Bool)
  }

  /// The next piece of work.
  enum Work: Hashable {
    /// A stage that reads and writes finished artifacts.
    case whole(StepID)
    /// One traversal of a stream.
    case pass(Outline)
  }

  /// A pass by the names of its steps.
  struct Outline: Hashable {
    /// The step whose kept output the pass reads; nil where it begins at a recording.
    var start: StepID?
    /// The steps that the stream flows through, in order; the source first, if there is one.
    var path: [StepID]
    /// The members of `path` and the sources of branches whose output goes into the store.
    var kept: Set<StepID> = []
    /// The pending steps that listen, each with the step whose output it hears.
    var listeners: [Listener] = []
  }

  /// A step that hears a stream without being part of it: a sink, or the analysis of a filter
  /// that must hear everything first.
  struct Listener: Hashable {
    let step: StepID
    let at: StepID
  }

  private let steps: [BoundStep]
  private let keepsEverything: Bool

  init(_ plan: Plan, keepsEverything: Bool) {
    steps = plan.steps
    self.keepsEverything = keepsEverything
  }

  /// The next piece of work, or nil when nothing is pending.
  /// - Parameter sourcesAlone: pending sources that are to be identified before anything below
  ///   them runs, since what is below may be there already.
  func next(_ status: [StepID: Status], sourcesAlone: Set<StepID> = []) -> Work? {
    guard let first = steps.first(where: { status[$0.id] == .pending }) else { return nil }
    guard case .streaming(_, let role) = first.descriptor.flow else {
      return whole(first, status)
    }
    var outline: Outline
    switch role {
    case .source:
      if let pass = keepingInputs(of: first, status) { return .pass(pass) }
      outline = Outline(start: nil, path: [first.id])
      if sourcesAlone.contains(first.id) { return .pass(outline) }
    case .filter:
      outline = approach(to: upstream(of: first), status)
      outline.path.append(first.id)
    case .analysedFilter, .sink:
      outline = approach(to: upstream(of: first), status)
    }
    extend(&outline, status)
    attach(&outline, status)
    return .pass(outline)
  }

  /// A whole stage can run once every stream it reads is kept.
  private func whole(_ step: BoundStep, _ status: [StepID: Status]) -> Work {
    keepingInputs(of: step, status).map { .pass($0) } ?? .whole(step.id)
  }

  /// A pass that keeps a stream which the step reads from the store, as long as one is missing
  /// there.
  private func keepingInputs(of step: BoundStep, _ status: [StepID: Status]) -> Outline? {
    for (_, source) in step.orderedSources {
      guard case .step(let id, _) = source, isStream(id), status[id] == .done(isKept: false)
      else { continue }
      var outline = approach(to: id, status)
      outline.kept = [id]
      return outline
    }
    return nil
  }

  /// The way from the nearest kept stream, or the recording, down to `id`.
  private func approach(to id: StepID?, _ status: [StepID: Status]) -> Outline {
    var path: [StepID] = []
    var current = id
    while let step = current {
      if status[step] == .done(isKept: true) { return Outline(start: step, path: path) }
      path.insert(step, at: 0)
      current = upstream(of: step)
    }
    return Outline(start: nil, path: path)
  }

  /// Follows the stream down as long as that feeds something pending.
  private func extend(_ outline: inout Outline, _ status: [StepID: Status]) {
    while let end = outline.path.last ?? outline.start {
      let next = consumers(of: end).first { step in
        guard role(of: step) == .filter || role(of: step) == .analysedFilter else { return false }
        switch status[step.id] {
        case .pending: return role(of: step) == .filter
        case .done(isKept: false): return feedsPending(step.id, status)
        default: return false
        }
      }
      guard let next else { return }
      outline.path.append(next.id)
    }
  }

  /// Adds the pending listeners along the way, and decides what is kept.
  private func attach(_ outline: inout Outline, _ status: [StepID: Status]) {
    for id in [outline.start].compactMap({ $0 }) + outline.path {
      let consumers = consumers(of: id)
      var mustKeep = false
      for consumer in consumers where status[consumer.id] == .pending {
        switch role(of: consumer) {
        case .sink:
          outline.listeners.append(Listener(step: consumer.id, at: id))
        case .analysedFilter:
          outline.listeners.append(Listener(step: consumer.id, at: id))
          mustKeep = true
        case .filter, .source: mustKeep = mustKeep || !outline.path.contains(consumer.id)
        case nil: mustKeep = true
        }
      }
      let step = steps.first { $0.id == id }
      // A filter that had to hear everything is done before any sound has come out of it, so its
      // sound is kept when it first flows.
      let isNews =
        status[id] == .pending
        || (step.flatMap { role(of: $0) } == .analysedFilter && status[id] == .done(isKept: false))
      if isNews {
        mustKeep =
          mustKeep || keepsEverything || step?.keep == true
          || (id == outline.path.last && consumers.isEmpty)
      }
      if mustKeep, outline.path.contains(id) { outline.kept.insert(id) }
    }
  }

  private func feedsPending(_ id: StepID, _ status: [StepID: Status]) -> Bool {
    consumers(of: id).contains { consumer in
      switch status[consumer.id] {
      case .pending: true
      case .done(isKept: false) where isStream(consumer.id): feedsPending(consumer.id, status)
      default: false
      }
    }
  }

  // MARK: The shape of the plan

  /// The step whose stream this one takes; nil for a source.
  func upstream(of step: BoundStep) -> StepID? {
    guard role(of: step) != .source, let port = step.descriptor.inputs.first,
      case .step(let id, _) = step.sources[port.name]
    else { return nil }
    return id
  }

  private func upstream(of id: StepID) -> StepID? {
    steps.first { $0.id == id }.flatMap { upstream(of: $0) }
  }

  private func consumers(of id: StepID) -> [BoundStep] {
    steps.filter { step in
      if let role = role(of: step), role != .source { return upstream(of: step) == id }
      return step.sources.values.contains { source in
        if case .step(let upstream, _) = source { return upstream == id }
        return false
      }
    }
  }

  private func role(of step: BoundStep) -> StreamRole? {
    if case .streaming(_, let role) = step.descriptor.flow { return role }
    return nil
  }

  private func isStream(_ id: StepID) -> Bool {
    guard let step = steps.first(where: { $0.id == id }), let role = role(of: step) else {
      return false
    }
    return role != .sink
  }
}
