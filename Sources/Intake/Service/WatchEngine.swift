package import PipelineEngine
package import PipelineModel
package import Platform
package import Store
internal import Synchronization

/// What all the work of a watch runs on.
package struct WatchEngine: Sendable {
  let store: DiskStore
  let storePath: String
  let executors: [any PassExecutor]
  let clock: any RunClock
  let probe: Probe
  let makeRunID: @Sendable () -> RunID
  let record: @Sendable (WatchEvent) -> Void
  let names: ExportNames
  let receiptWriter: (any ReceiptWriter)?
  /// Queues what a recording's run gives to destinations.
  let delivery: (@Sendable (Recording) -> any RunDelivery)?
  let corrections: WordOverlay?
  /// How the store is named in commands that a user types.
  let option: StoreOption

  /// `makeRunID` names runs, `option` the store in commands that a user types; `receiptWriter`
  /// writes the receipts that pipelines ask for, `delivery` queues what they have delivered, and
  /// `corrections` lie over the words of recordings.
  package init(
    store: DiskStore, at storePath: String, option: StoreOption = .usual,
    executors: [any PassExecutor],
    clock: any RunClock, probe: Probe,
    makeRunID: @Sendable @escaping () -> RunID,
    record: @Sendable @escaping (WatchEvent) -> Void,
    receiptWriter: (any ReceiptWriter)? = nil,
    delivery: (@Sendable (Recording) -> any RunDelivery)? = nil, corrections: WordOverlay? = nil
  ) {
    self.receiptWriter = receiptWriter
    self.delivery = delivery
    self.corrections = corrections
    self.option = option
    self.store = store
    self.storePath = storePath
    self.executors = executors
    self.clock = clock
    self.probe = probe
    self.makeRunID = makeRunID
    self.record = record
    names = ExportNames(store)
  }

  func runner(
    _ recorder: any RunRecorder, of recording: Recording, stop: StopRequest
  ) -> Runner {
    Runner(
      store: store, log: store.runs, executors: executors, recorder: recorder, stop: stop,
      clock: clock, receiptWriter: receiptWriter, delivery: delivery?(recording),
      corrections: corrections)
  }

  /// Throws if the store's folder is gone: nothing can be taken in until it is back.
  func checkPlaceOfStore() throws(SpoolError) {
    guard !FilePath.exists(storePath) else { return }
    throw SpoolError(
      "the store \(storePath) is gone",
      reason:
        "its folder was moved, or its disk is not mounted; nothing is taken in until it is back",
      cause: .environment, kind: .missing)
  }

  /// What a watch asks of a media library. The program injects it, so that `Intake` imports none.
  package struct Probe: Sendable {
    /// A container's tags, and its declared length in seconds; nil if the file is no readable
    /// recording.
    let describe: @Sendable (_ path: String) -> (tags: [String: String], seconds: Double?)?
    /// Whether the file at a path holds all that its container declares.
    let verdict: @Sendable (_ path: String) -> ContainerVerdict
    /// What a file says beside its sound that exports carry over, by name.
    let metadata: @Sendable (SourceFile) -> [String: String]

    package init(
      describe: @escaping @Sendable (_ path: String) -> (tags: [String: String], seconds: Double?)?,
      verdict: @escaping @Sendable (_ path: String) -> ContainerVerdict,
      metadata: @escaping @Sendable (SourceFile) -> [String: String]
    ) {
      self.describe = describe
      self.verdict = verdict
      self.metadata = metadata
    }

    /// The container's facts; nil if it cannot be read.
    func facts(of path: String) -> ContainerFacts? {
      describe(path).map { ContainerFacts(tags: $0.tags, duration: $0.seconds) }
    }
  }
}

/// The store in a command that a user types, if it is not the usual one.
package struct StoreOption: Hashable, Sendable {
  package static let usual = StoreOption(nil)

  private let path: String?

  package init(_ path: String?) { self.path = path }

  /// Words of a command line; none for the usual store.
  package var words: [String] { path.map { ["\(option: .store)", $0] } ?? [] }

  /// The command for this store, as the user types it, or each of several with `&&` between them. O(n).
  package func completing(_ command: String) -> String {
    if path == nil { return command }
    return command.split(separator: Self.next).map { "\($0) \(ShellWords.line(words))" }
      .joined(separator: Self.next)
  }

  /// What is between two commands.
  private static let next = " && spool "
}

/// Chooses the name of a recording's exports, so that they never replace exports of another
/// recording or pipeline or a file that Spool did not write.
final class ExportNames: Sendable {
  /// A name that is reserved for this recording while this value lives.
  struct Choice: ~Copyable {
    /// The recording's name, its ending included.
    let name: String
    private let key: String
    private let names: ExportNames

    fileprivate init(name: String, key: String, names: ExportNames) {
      self.name = name
      self.key = key
      self.names = names
    }

    deinit { names.underWay.withLock { _ = $0.remove(key) } }
  }

  fileprivate let underWay = Mutex<Set<String>>([])
  private let exportFolder: any ExportFolder

  init(_ exportFolder: any ExportFolder) { self.exportFolder = exportFolder }

  /// The first free name: the recording's own, or that with a mark.
  ///
  /// A name that this recording's exports already have comes first, so that interrupted work
  /// resumes there.
  /// - Parameters:
  ///   - mark: distinguishes the recording from all others.
  ///   - digest: the recording's bytes.
  ///   - pipeline: the pipeline's name.
  ///   - excluded: names that proved to be taken.
  ///   - files: the paths of the exports under a name.
  /// - Returns: nil if every name is taken.
  func choose(
    _ name: RecordingName, mark: String, digest: Digest, pipeline: String,
    excluding excluded: Set<String>, files: (String) -> [String]
  ) -> Choice? {
    let candidates = [name.fileName(), name.fileName(marked: mark)].filter {
      !excluded.contains($0)
    }
    var found: [(name: String, files: [String], owner: Owner)] = []
    for candidate in candidates {
      let paths = files(candidate)
      found.append((candidate, paths, owner(of: paths, digest, pipeline)))
    }
    for candidate in found.filter({ $0.owner == .this }) + found.filter({ $0.owner.isPossible }) {
      let key = candidate.files.sorted().joined(separator: "\n")
      if underWay.withLock({ $0.insert(key).inserted }) {
        return Choice(name: candidate.name, key: key, names: self)
      }
    }
    return nil
  }

  /// The owner of the files at some paths.
  private enum Owner {
    case nobody
    case this
    /// Files that the store does not know. They may be exports of this recording whose process was
    /// killed before it recorded them: publishing compares the bytes.
    case unknown
    case other

    var isPossible: Bool { self == .nobody || self == .unknown }
  }

  private func owner(of paths: [String], _ digest: Digest, _ pipeline: String) -> Owner {
    let own = RecordingIdentity(path: "", digest: digest)
    let source = ExportSource(own, sounds: [own], pipeline: pipeline, receipts: Set(paths))
    var owner = Owner.nobody
    for path in paths {
      guard (try? FileStamp(at: path)) != nil else { continue }
      guard (try? exportFolder.recording(ofPublished: path)) != nil else {
        if owner == .nobody { owner = .unknown }
        continue
      }
      if (try? exportFolder.refusal(toReplace: path, with: source)) != nil { return .other }
      owner = .this
    }
    return owner
  }
}
