public import PipelineEngine
public import PipelineModel

/// Where a batch does its work.
public struct BatchWorkplace: Sendable {
  /// The store.
  public let store: any ArtifactStore & FileCustody & RunLog & WorkClaims & BatchLog
  /// What runs the passes; shared by all files, so that the last ones have every core.
  public let executors: [any PassExecutor]
  /// The tags of the recording at a path, names in lower case; nil where it cannot be read.
  public let tags: @Sendable (_ path: String) -> [String: String]?
  /// How long the recording at a path is, in seconds, as its header says; nil where it does not.
  public let length: @Sendable (_ path: String) -> Double?
  /// Whoever asks to stop.
  public let stop: StopRequest
  /// Time and chance.
  public let clock: any RunClock
  /// Takes note of what happens.
  public let recorder: any BatchRecorder
  /// Who writes receipts; nil where nobody does.
  public let witness: (any RunWitness)?

  /// Collects what a batch may touch.
  public init(
    store: any ArtifactStore & FileCustody & RunLog & WorkClaims & BatchLog,
    executors: [any PassExecutor], tags: @escaping @Sendable (_ path: String) -> [String: String]?,
    length: @escaping @Sendable (_ path: String) -> Double?,
    stop: StopRequest, clock: any RunClock, recorder: any BatchRecorder,
    witness: (any RunWitness)? = nil
  ) {
    self.witness = witness
    self.store = store
    self.executors = executors
    self.tags = tags
    self.length = length
    self.stop = stop
    self.clock = clock
    self.recorder = recorder
  }
}
