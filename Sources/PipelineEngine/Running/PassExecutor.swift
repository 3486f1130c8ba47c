package import PipelineModel
package import Platform

/// Runs the passes of one family of streaming stages. The engine knows that neighbours may be
/// joined; only the executor knows what flows between them.
package protocol PassExecutor: Sendable {
  var family: StageFamily { get }

  /// Runs a pass to its end, on its own threads.
  func run(_ order: PassOrder, in context: PassContext) throws(PassFailure) -> PassOutcome

  /// Throws if a file holds nothing that the family's sources can open. Reads at most its header.
  func probe(_ file: SourceFile) throws(SpoolError)

  /// A pass's cost, and its recording's length. Reads at most the recording's header.
  func estimate(_ order: PassOrder) throws(PassFailure) -> PassEstimate
}

/// One traversal of a stream, ready to run.
package struct PassOrder: Sendable {
  package enum Start: Sendable {
    /// The inputs of the first step: recordings and kept streams, in the order of its ports and
    /// their lists.
    case opened([SourceInput])
    /// A step's output in the store.
    case kept(StepID, Artifact)

    /// The outputs to read from the store, with their steps.
    var kept: [(step: StepID, artifact: Artifact)] {
      switch self {
      case .kept(let step, let artifact): [(step, artifact)]
      case .opened(let inputs):
        inputs.compactMap { input in
          if case .kept(let step, let artifact) = input.origin { return (step, artifact) }
          return nil
        }
      }
    }
  }

  /// The input of the recording that it decodes; nil if it reads several, or what is kept.
  var recording: String? {
    guard case .opened(let inputs) = start, inputs.count == 1,
      case .recording(let input, _)? = inputs.first?.origin
    else { return nil }
    return input
  }

  /// One input of a pass's first step.
  package struct SourceInput: Sendable {
    /// The port, or the place in a port's list.
    package let place: PortName
    package let origin: Origin
  }

  package enum Origin: Sendable {
    /// The file for this input.
    case recording(input: String, SourceFile)
    /// A step's output in the store.
    case kept(StepID, Artifact)
    /// The output of a step as an estimate describes it, done or not; only in forecasts.
    case awaited(StepID, outline: String?)
  }

  /// A step that the stream flows through.
  package struct Member: Sendable {
    package let step: BoundStep
    /// Its memo when it was done before; nil if it is done for the first time.
    package let memo: String?
    /// Whether it is done for the first time, rather than streamed again for a step below.
    package let isPending: Bool
    /// Whether its output is kept in the store.
    package let isKept: Bool
  }

  /// A step that reads the stream.
  package struct Listener: Sendable {
    /// A sink, or a filter that needs the whole stream before its own pass.
    package let step: BoundStep
    /// The step whose output it reads.
    package let at: StepID
    /// Its other inputs, in the order of its ports.
    package let inputs: [SourceInput]
    /// The steps that lead to it, from the first one on, also those of earlier passes.
    package let chain: [BoundStep]
  }

  package private(set) var start: Start
  /// The plan of its steps.
  package let plan: Plan
  /// The steps that the stream flows through, in order.
  package let path: [Member]
  package let listeners: [Listener]

  /// All inputs besides the kept start: the source's, and the listeners'.
  var inputs: [SourceInput] {
    var inputs = listeners.flatMap(\.inputs)
    if case .opened(let opened) = start { inputs = opened + inputs }
    return inputs
  }

  /// The input files that the pass reads.
  var files: [SourceFile] {
    inputs.compactMap { input in
      if case .recording(_, let file) = input.origin { file } else { nil }
    }
  }

  /// The steps that this pass completes.
  package var pendingSteps: [BoundStep] {
    path.filter(\.isPending).map(\.step) + listeners.map(\.step)
  }
}

/// All that a running pass may use.
package struct PassContext: Sendable {
  package let store: any ArtifactStore
  /// Holds unfinished files and the journal, so that the pass can be resumed.
  package let claim: any WorkClaim
  /// Throws when the pass has to stop; called at every block.
  package let check: @Sendable () throws(SpoolError) -> Void
  /// Reports a step's progress, in seconds of the recording.
  package let report: @Sendable (StepID, _ done: Double, _ total: Double?) -> Void
  /// Reports a problem that does not end the pass.
  package let warn: @Sendable (StepID, String) -> Void
  /// Publishes an artifact as soon as it is sealed, while the pass may still produce others. Called
  /// on any thread.
  package let sealed: @Sendable (StepID, PortName, Artifact) -> Void
  /// Reports where the pass begins, and the recording's length, in seconds: an earlier process did
  /// what comes before. `inHand` are seconds of the earlier process's work after its last journal
  /// entry.
  package let resumed: @Sendable (_ at: Double, _ of: Double?, _ inHand: Double) -> Void
  /// Reports, before `resumed`, a damaged part of the unfinished work that was dropped, in words
  /// such as `kept sound`, and where the step resumes, in seconds of the recording.
  package let dropped: @Sendable (StepID, _ part: String, _ at: Double) -> Void
}

package struct PassOutcome: Sendable {
  package struct Result: Hashable, Sendable, Codable {
    /// For a source, the digest of the content; other identities follow from keys and bytes.
    package var identity: Digest?
    /// The artifacts, by port.
    package var artifacts: [PortName: Artifact] = [:]
    /// What the step needs when it is streamed again.
    package var memo: String?
    /// A short text by which later work can recognise the same content.
    package var hint: String?
    package var warnings: [String] = []

    package init() {}
  }

  /// By step. A step that only passed the stream on may be missing.
  package var results: [StepID: Result] = [:]
  /// The recording's length in seconds.
  package var mediaSeconds: Double
  /// Seconds of work inside each step, on all threads.
  package var workSeconds: [StepID: Double] = [:]

  package init(mediaSeconds: Double) { self.mediaSeconds = mediaSeconds }
}

package struct PassEstimate: Hashable, Sendable {
  /// The recording's length in seconds; nil if its header does not declare it.
  package var mediaSeconds: Double?
  /// Bytes for the store.
  package var storeByteCount: Int
  /// Bytes of scratch files, at most, during the pass.
  package var scratchByteCount: Int
  /// Bytes for the output folder.
  package var publishedByteCount: Int
  /// Estimated wall time in seconds.
  package var seconds: Double
  /// The hints that would find earlier work of the source.
  package var hints: [String]
  /// What each step will give, in the executor's own words, for the estimates of later passes.
  package var outlines: [StepID: String]

  package init(
    mediaSeconds: Double?, storeByteCount: Int, scratchByteCount: Int = 0,
    publishedByteCount: Int, seconds: Double, hints: [String] = [],
    outlines: [StepID: String] = [:]
  ) {
    self.mediaSeconds = mediaSeconds
    self.storeByteCount = storeByteCount
    self.scratchByteCount = scratchByteCount
    self.publishedByteCount = publishedByteCount
    self.seconds = seconds
    self.hints = hints
    self.outlines = outlines
  }
}

package struct PassFailure: Error, Hashable, Sendable {
  package let step: StepID?
  package let error: SpoolError

  package init(_ step: StepID?, _ error: SpoolError) {
    self.step = step
    self.error = error
  }
}

extension PassOrder {
  /// The order as a forecast knows it: with what estimates tell of the streams that its source reads,
  /// whether they are in the store or will be made.
  func awaiting(_ outlines: [StepID: String]) -> PassOrder {
    guard case .opened(let inputs) = start else { return self }
    var order = self
    order.start = .opened(
      inputs.map { input in
        switch input.origin {
        case .awaited(let id, _), .kept(let id, _):
          SourceInput(place: input.place, origin: .awaited(id, outline: outlines[id]))
        case .recording: input
        }
      })
    return order
  }

  /// Fills a planner's outline with the steps, their memos, and the start of the stream. Steps of
  /// the path that are not `pending` are only streamed again.
  init(
    _ outline: PassPlanner.Outline, plan: Plan, survey: Survey, pending: Set<StepID>
  ) throws(PassFailure) {
    self.plan = plan
    var members: [Member] = []
    for id in outline.path {
      guard let step = plan.step(id) else { continue }
      members.append(
        Member(
          step: step, memo: survey.checkpoint(of: id)?.memo, isPending: pending.contains(id),
          isKept: outline.kept.contains(id)))
    }
    path = members
    let upstream = UpstreamOutputs(plan, finished: [:])
    listeners = outline.listeners.compactMap { listener in
      plan.step(listener.step).map { step in
        Listener(
          step: step, at: listener.at,
          inputs: PassOrder.inputs(
            Array(step.orderedSources.dropFirst()), plan: plan, survey: survey),
          chain: upstream.chain(to: step.id))
      }
    }
    start = try PassOrder.start(of: outline, plan: plan, survey: survey)
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
        outline.path.first, SpoolError("the step reads neither a recording nor kept sound"))
    }
    return .opened(inputs(source.orderedSources, plan: plan, survey: survey))
  }

  private static func inputs(
    _ sources: [(place: PortName, source: StepSource)], plan: Plan, survey: Survey
  ) -> [SourceInput] {
    sources.compactMap { place, source in
      switch source {
      case .input(let name):
        plan.files[name].map {
          SourceInput(place: place, origin: .recording(input: name, $0))
        }
      case .step(let id, let port):
        SourceInput(
          place: place,
          origin: survey.checkpoint(of: id)?.outputs[port]?.artifact.map { .kept(id, $0) }
            ?? .awaited(id, outline: nil))
      }
    }
  }
}
