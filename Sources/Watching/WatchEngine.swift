public import PipelineEngine
public import PipelineModel

/// What all the work of a watch runs on.
public struct WatchEngine: Sendable {
  /// All that a watch needs of a store.
  public typealias Store = ArtifactStore & FileCustody & RunLog & WorkClaims & NoteLedger
    & MountMemory & InboxMemory

  let store: any Store
  /// Where the store lies.
  let storePath: String
  let executors: [any PassExecutor]
  let clock: any RunClock
  let makeRunID: @Sendable () -> RunID
  let recorder: any WatchRecorder
  let names: ExportNames
  let witness: (any RunWitness)?
  /// How the store is named in what a user is told to type.
  let option: StoreOption

  /// Collects it; `makeRunID` names runs, `option` the store in what a user is told to type, and
  /// `witness` writes a receipt for every recording.
  public init(
    store: any Store, at storePath: String, option: StoreOption = .usual,
    executors: [any PassExecutor],
    clock: any RunClock,
    makeRunID: @Sendable @escaping () -> RunID, recorder: any WatchRecorder,
    witness: (any RunWitness)? = nil
  ) {
    self.witness = witness
    self.option = option
    self.store = store
    self.storePath = storePath
    self.executors = executors
    self.clock = clock
    self.makeRunID = makeRunID
    self.recorder = recorder
    names = ExportNames(store)
  }

  /// A runner whose work ends when `stop` asks for it.
  func runner(_ recorder: any RunRecorder, stop: StopRequest) -> Runner {
    Runner(
      store: store, executors: executors, recorder: recorder, stop: stop, clock: clock,
      witness: witness)
  }
}
