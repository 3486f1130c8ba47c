import PipelineModel
import Platform

/// Decides which piece of work comes next. A pure value without clock, store and sound.
///
/// A pass starts at the nearest kept sound above the first pending step, or at a source; it streams
/// through every step on the way, includes all pending steps that it can feed, and ends at a step
/// that needs the whole stream first. Passes that keep what its source reads come before it.
struct PassPlanner {
  enum Status: Hashable {
    case pending
    /// Done; `isKept` says whether its stream can be read from the store.
    case done(isKept: Bool)
  }

  enum Work: Hashable {
    /// A stage that reads and writes finished artifacts.
    case whole(StepID)
    /// One traversal of a stream.
    case pass(Outline)
  }

  /// A pass by the ids of its steps.
  struct Outline: Hashable {
    /// The step whose kept output the pass reads; nil if it begins at a recording.
    var start: StepID?
    /// The steps of the stream in order, from the source if there is one.
    var path: [StepID]
    /// The members of `path` and the sources of branches whose output is kept in the store.
    var kept: Set<StepID> = []
    /// The pending listeners, each with the step whose output it reads.
    var listeners: [Listener] = []
  }

  /// A step that reads a stream without being part of it: a sink, or the analysis of a filter that
  /// needs the whole stream first.
  struct Listener: Hashable {
    let step: StepID
    let at: StepID
  }

  private let steps: [BoundStep]
  private let keepsEverything: Bool
  private let needed: StepID?

  /// - Parameter needed: the step whose stream has to be in the store at the end, although it may be
  ///   done; nil for none.
  init(_ plan: Plan, keepsEverything: Bool, needed: StepID? = nil) {
    steps = plan.steps
    self.keepsEverything = keepsEverything
    self.needed = needed
  }

  /// The next piece of work, or nil if nothing is pending.
  /// - Parameter sourcesAlone: pending sources to identify before anything below them runs, since
  ///   that may exist already.
  func next(_ status: [StepID: Status], sourcesAlone: Set<StepID> = []) -> Work? {
    guard let first = steps.first(where: { status[$0.id] == .pending }) else {
      guard let needed, status[needed] == .done(isKept: false) else { return nil }
      return .pass(keeping(needed, status))
    }
    guard case .streaming(_, let role) = first.descriptor.flow else { return whole(first, status) }
    var outline: Outline
    switch role {
    case .source: outline = Outline(start: nil, path: [first.id])
    case .filter:
      outline = approach(to: upstream(of: first), status)
      outline.path.append(first.id)
    case .analysedFilter, .sink:
      outline = approach(to: upstream(of: first), status)
    }
    if let pass = keepingInputs(of: outline, status) { return .pass(pass) }
    if role == .source, sourcesAlone.contains(first.id) { return .pass(outline) }
    extend(&outline, status)
    attach(&outline, status)
    return .pass(outline)
  }

  /// A whole stage can run once every stream it reads is kept.
  private func whole(_ step: BoundStep, _ status: [StepID: Status]) -> Work {
    keepingInputs(of: step, status).map { .pass($0) } ?? .whole(step.id)
  }

  /// A pass that keeps a stream that the step needs and the store lacks.
  private func keepingInputs(of step: BoundStep, _ status: [StepID: Status]) -> Outline? {
    for (_, source) in step.orderedSources {
      guard case .step(let id, _) = source, isStream(id), status[id] == .done(isKept: false)
      else { continue }
      return keeping(id, status)
    }
    return nil
  }

  /// A pass that keeps a stream that the source of a pass reads and the store lacks; nil if there is
  /// none.
  private func keepingInputs(of outline: Outline, _ status: [StepID: Status]) -> Outline? {
    guard outline.start == nil, let first = outline.path.first,
      let source = steps.first(where: { $0.id == first })
    else { return nil }
    return keepingInputs(of: source, status)
  }

  /// The pass that keeps the stream of a step that is done, or one that has to come before it.
  private func keeping(_ id: StepID, _ status: [StepID: Status]) -> Outline {
    var outline = approach(to: id, status)
    if let pass = keepingInputs(of: outline, status) { return pass }
    outline.kept = [id]
    return outline
  }

  /// The path from the nearest kept stream, or the recording, down to `id`.
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

  /// Extends the stream downwards while that feeds pending steps.
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

  /// Adds the pending listeners on the path, and decides what is kept.
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
      // A filter that needed the whole stream is done before any of its sound exists, so the sound
      // is kept when it first flows.
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

  /// Nil for a source.
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

  private func role(of step: BoundStep) -> Flow.Role? {
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

extension PassOrder {
  /// The pass's identity as a piece of work: equal identities give equal bytes, so that unfinished
  /// work can be resumed.
  /// - Parameter recordings: the identities of the plan's inputs.
  func work(on recordings: [String: StepOutput]) -> Digest {
    // What version 1 left may be of a file that changed while it was read.
    var fields = ["spool-pass-2"]
    switch start {
    case .opened(let inputs): for input in inputs { fields += input.work(on: recordings) }
    case .kept(_, let artifact): fields += ["kept", artifact.digest.hex]
    }
    for member in path {
      fields += ["step", "\(member.isPending)", "\(member.isKept)", member.memo ?? ""]
      fields += member.step.work
    }
    for listener in listeners {
      let place = path.firstIndex { $0.step.id == listener.at } ?? -1
      fields += ["listener", "\(place)"] + listener.step.work
      // What comes before the kept sound decides with it on what a listener makes of it.
      if case .kept = start { fields += listener.chain.flatMap(\.work) }
      for input in listener.inputs { fields += input.work(on: recordings) }
    }
    return SHA256.digest(of: fields.map { "\($0.utf8.count):\($0)" }.joined(separator: "\n"))
  }

  /// For messages: `decode, eq, compress → normalize`.
  var summary: String {
    let steps = path.map { "\($0.step.id)" }.joined(separator: ", ")
    let ends = listeners.map { "\($0.step.id)" }.joined(separator: ", ")
    return ends.isEmpty ? steps : "\(steps) → \(ends)"
  }
}

extension PassOrder.SourceInput {
  /// What is read, independent of its name.
  fileprivate func work(on recordings: [String: StepOutput]) -> [String] {
    switch origin {
    case .recording(let name, _): ["recording", recordings[name]?.identity.hex ?? ""]
    case .kept(_, let artifact): ["input", artifact.digest.hex]
    case .awaited(let id, _): ["awaited", id.name]
    }
  }
}

extension BoundStep {
  /// What decides on the step's work besides its inputs.
  fileprivate var work: [String] {
    let components = keyComponents(inputs: [:])
    return [components.key.digest.hex]
  }
}
