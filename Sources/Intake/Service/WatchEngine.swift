package import PipelineEngine
package import PipelineModel
import Platform
package import Store

/// What all the work of a watch runs on.
package struct WatchEngine: Sendable {
  let store: DiskStore
  let storePath: String
  let executors: [any PassExecutor]
  let clock: any RunClock
  let probe: ContainerProbe
  let makeRunID: @Sendable () -> RunID
  let recorder: any WatchRecorder
  let names: ExportNames
  let receiptWriter: (any ReceiptWriter)?
  /// How the store is named in commands that a user types.
  let option: StoreOption

  /// `makeRunID` names runs, `option` the store in commands that a user types; `receiptWriter`
  /// writes a receipt for every recording.
  package init(
    store: DiskStore, at storePath: String, option: StoreOption = .usual,
    executors: [any PassExecutor],
    clock: any RunClock, probe: ContainerProbe,
    makeRunID: @Sendable @escaping () -> RunID, recorder: any WatchRecorder,
    receiptWriter: (any ReceiptWriter)? = nil
  ) {
    self.receiptWriter = receiptWriter
    self.option = option
    self.store = store
    self.storePath = storePath
    self.executors = executors
    self.clock = clock
    self.probe = probe
    self.makeRunID = makeRunID
    self.recorder = recorder
    names = ExportNames(store)
  }

  func runner(_ recorder: any RunRecorder, stop: StopRequest) -> Runner {
    Runner(
      store: store, log: store.runs, executors: executors, recorder: recorder, stop: stop,
      clock: clock,
      receiptWriter: receiptWriter)
  }
}

/// What a watch asks of a media library. The program injects it, so that `Intake` imports none.
package struct ContainerProbe: Sendable {
  /// A container's tags, and its declared length in seconds; nil if the file is no readable
  /// recording.
  let describe: @Sendable (_ path: String) -> (tags: [String: String], seconds: Double?)?
  /// Whether the file at a path holds all that its container declares.
  let verdict: @Sendable (_ path: String) -> ContainerVerdict

  package init(
    describe: @escaping @Sendable (_ path: String) -> (tags: [String: String], seconds: Double?)?,
    verdict: @escaping @Sendable (_ path: String) -> ContainerVerdict
  ) {
    self.describe = describe
    self.verdict = verdict
  }

  /// The container's facts; nil if it cannot be read.
  func facts(of path: String) -> ContainerFacts? {
    describe(path).map { ContainerFacts(tags: $0.tags, duration: $0.seconds) }
  }
}

/// The store in a command that a user types, if it is not the usual one.
package struct StoreOption: Hashable, Sendable {
  package static let usual = StoreOption(nil)

  private let path: String?

  package init(_ path: String?) { self.path = path }

  /// The command for this store, as the user types it. O(n).
  package func completing(_ command: String) -> String {
    path.map { "\(command) \(ShellWords.line(["\(option: .store)", $0]))" } ?? command
  }
}
