public import Hashing
public import PipelineModel

/// Runs the passes of one family of streaming stages. The engine knows that neighbours may be
/// joined; only the executor knows what flows between them.
public protocol PassExecutor: Sendable {
  /// The family.
  var family: StageFamily { get }

  /// Runs a pass to its end, on threads of its own.
  func run(_ order: PassOrder, in context: PassContext) throws(PassFailure) -> PassOutcome

  /// What a pass will cost, and how long its recording is. Reads the recording's header at most.
  func estimate(_ order: PassOrder) throws(PassFailure) -> PassEstimate
}

/// One traversal of a stream, ready to run.
public struct PassOrder: Sendable {
  /// Where the stream comes from.
  public enum Start: Sendable {
    /// What the first step of the path opens: recordings and kept streams, in the order of its
    /// ports and of their lists.
    case opened([SourceInput])
    /// What a step left in the store.
    case kept(StepID, Artifact)

    /// What is read from the store, and the steps that left it there.
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

  /// One of the things that a pass begins with.
  public struct SourceInput: Sendable {
    /// The port, or the place in a port's list.
    public let place: PortName
    /// What is to be read.
    public let origin: Origin
  }

  /// What a source reads.
  public enum Origin: Sendable {
    /// The file that was given as this input.
    case recording(input: String, path: String)
    /// What a step left in the store.
    case kept(StepID, Artifact)
    /// What a step will have left in the store when its pass is done; met only while forecasting.
    case awaited(StepID)
  }

  /// A step that the stream flows through.
  public struct Member: Sendable {
    /// The step.
    public let step: BoundStep
    /// What it noted when it was done before; nil where it is done now for the first time.
    public let memo: String?
    /// Whether it is done now for the first time, rather than streamed again for a step below.
    public let isPending: Bool
    /// Whether what it gives goes into the store.
    public let isKept: Bool
  }

  /// A step that hears the stream.
  public struct Listener: Sendable {
    /// The step: a sink, or a filter that must hear everything before its own pass.
    public let step: BoundStep
    /// The step whose output it hears.
    public let at: StepID
    /// What it reads besides, in the order of its ports.
    public let inputs: [SourceInput]
  }

  /// Where the stream comes from.
  public let start: Start
  /// The steps that the stream flows through, in order.
  public let path: [Member]
  /// The steps that hear it.
  public let listeners: [Listener]
  /// Seconds after which the pass is given up; nil means never.
  public let timeout: Double?

  /// Everything that is read besides what was kept where it starts: by its source, and by those who
  /// listen.
  var inputs: [SourceInput] {
    var inputs = listeners.flatMap(\.inputs)
    if case .opened(let opened) = start { inputs = opened + inputs }
    return inputs
  }

  /// The steps that will be done after it.
  public var pendingSteps: [BoundStep] {
    path.filter(\.isPending).map(\.step) + listeners.map(\.step)
  }
}

/// All that a running pass may touch.
public struct PassContext: Sendable {
  /// Where artifacts are read and written.
  public let store: any ArtifactStore
  /// Where unfinished files lie and progress is noted, so that the pass can be gone on with.
  public let claim: any WorkClaim
  /// Throws when the pass has to stop; called at every block.
  public let check: @Sendable () throws(StageError) -> Void
  /// Tells how far a step is, in seconds of the recording.
  public let report: @Sendable (StepID, _ done: Double, _ total: Double?) -> Void
  /// Tells of something that does not end the pass.
  public let warn: @Sendable (StepID, String) -> Void
  /// Hands over an artifact as soon as it is sealed, while the pass may still work on others. Called
  /// on any thread.
  public let sealed: @Sendable (StepID, PortName, Artifact) -> Void
  /// Tells where the pass begins, and how long the recording is, in seconds: what comes before was
  /// done by an earlier process. `inHand` are seconds of work that the earlier process had in hand
  /// when it made its last note, and that are not in it.
  public let resumed: @Sendable (_ at: Double, _ of: Double?, _ inHand: Double) -> Void
  /// Tells, before `resumed`, of a part of the unfinished work that is damaged and was dropped, in words
  /// such as `kept sound`, and where the step goes on with it, in seconds of the recording.
  public let dropped: @Sendable (StepID, _ part: String, _ at: Double) -> Void

  /// Collects what a pass may touch.
  public init(
    store: any ArtifactStore, claim: any WorkClaim,
    check: @escaping @Sendable () throws(StageError) -> Void,
    report: @escaping @Sendable (StepID, Double, Double?) -> Void,
    warn: @escaping @Sendable (StepID, String) -> Void,
    sealed: @escaping @Sendable (StepID, PortName, Artifact) -> Void,
    resumed: @escaping @Sendable (_ at: Double, _ of: Double?, _ inHand: Double) -> Void,
    dropped: @escaping @Sendable (StepID, _ part: String, _ at: Double) -> Void
  ) {
    self.store = store
    self.claim = claim
    self.check = check
    self.report = report
    self.warn = warn
    self.sealed = sealed
    self.resumed = resumed
    self.dropped = dropped
  }
}

/// What a pass gave.
public struct PassOutcome: Sendable {
  /// What one step gave.
  public struct Result: Hashable, Sendable, Codable {
    /// The digest of the content, for a source; other identities follow from keys and bytes.
    public var identity: Digest?
    /// What went into the store, by port.
    public var artifacts: [PortName: Artifact] = [:]
    /// What the step wants back when it is streamed again.
    public var memo: String?
    /// A few words by which later work can guess that it meets the same content again.
    public var hint: String?
    /// What the user should know, although it does not end the pass.
    public var warnings: [String] = []

    /// An empty result.
    public init() {}
  }

  /// What each step gave. A step that only let the stream through need not be named.
  public var results: [StepID: Result] = [:]
  /// How long the recording is, in seconds.
  public var mediaSeconds: Double

  /// Starts an outcome.
  public init(mediaSeconds: Double) { self.mediaSeconds = mediaSeconds }
}

/// What a pass will cost.
public struct PassEstimate: Hashable, Sendable {
  /// How long the recording is, in seconds; nil where its header does not say.
  public var mediaSeconds: Double?
  /// Bytes that will go into the store.
  public var storeByteCount: Int
  /// Bytes besides, at most, that lie there while the pass runs and go when it ends.
  public var scratchByteCount: Int
  /// Bytes that will go into the output folder.
  public var publishedByteCount: Int
  /// Wall time in seconds, roughly.
  public var seconds: Double
  /// The hints under which earlier work of the source would be found.
  public var hints: [String]

  /// Makes an estimate.
  public init(
    mediaSeconds: Double?, storeByteCount: Int, scratchByteCount: Int = 0,
    publishedByteCount: Int, seconds: Double, hints: [String] = []
  ) {
    self.mediaSeconds = mediaSeconds
    self.storeByteCount = storeByteCount
    self.scratchByteCount = scratchByteCount
    self.publishedByteCount = publishedByteCount
    self.seconds = seconds
    self.hints = hints
  }
}

/// A pass that came to no end.
public struct PassFailure: Error, Hashable, Sendable {
  /// The step that failed; nil where it was the pass as a whole.
  public let step: StepID?
  /// What happened.
  public let error: StageError

  /// Describes a failure.
  public init(_ step: StepID?, _ error: StageError) {
    self.step = step
    self.error = error
  }
}
