import FoundationEssentials
import Glibc
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import Search
import SoundEngine
import Stages
import Store

extension CommandContext {
  typealias Refusal = SpoolError
}

/// An error as text, for commands that word their errors themselves.
struct ErrorText {
  private let error: SpoolError

  init(_ error: SpoolError) { self.error = error }

  func render(_ console: Console) -> String { error.text(console) }
}

extension SpoolError {
  init(text: String, code: ExitCode) {
    self.init("", reason: text, kind: .invalid)
    faults = [ParameterFault(at: [], "\(code.rawValue)")]
  }

  var text: String { text(Console()) }

  var code: ExitCode {
    faults.first.flatMap { Int32($0.message) }.map { ExitCode(rawValue: $0) } ?? exitCode
  }
}

extension CommandContext {
  func existingStore(at option: String?) throws(SpoolError) -> ReadableStore {
    try requireStore(at: Self.storePath(option))
    return try readableStore(at: option)
  }

  func unlock(_ receiptWriter: SignedReceiptWriter) throws(SpoolError) {
    try receiptWriter.unlock()
  }

  func runs(limit: Int, in store: DiskStore) throws(SpoolError) -> [RunRecord] {
    try store.runs.newest(limit: limit)
  }
}

extension OutputFolder {
  static func prepare(_ path: String, console: Console) throws(SpoolError) -> String {
    try prepare(path)
  }
}

/// Opening the store for a command.
extension CommandContext {
  /// Opens the store; creates it if it does not exist.
  func store(at option: String?) throws(SpoolError) -> DiskStore {
    try requireParent(of: option)
    let store = try DiskStore(at: Self.storePath(option))
    tell(of: store)
    return store
  }

  /// The store's folder, existing or not.
  /// - Parameter option: `--store` as typed.
  static func storePath(_ option: String?) -> String {
    StoreLocation.resolve(option: option, environment: Environment.variables)
  }

  /// Requires the parent of a named store folder: a missing parent is probably a typing mistake.
  private func requireParent(of option: String?) throws(SpoolError) {
    guard let named = option ?? Environment.variables["SPOOL_STORE"], !named.isEmpty else { return }
    let path = absolute(named)
    var names = path.split(separator: "/").filter { $0 != "." }
    guard !names.isEmpty, names.removeLast() != ".." else { return }
    let parent = "/" + names.joined(separator: "/")
    guard unsafe access(parent, F_OK) != 0, errno == ENOENT else { return }
    throw SpoolError(
      "cannot make the store \(path)",
      reason: "the folder above it, \(parent), does not exist",
      advice: "make the folder above it, or name another with --store", cause: .environment)
  }

  /// Opens or creates the store for a command that frees space, even on a full disk.
  func freeing<Result>(
    _ option: String?, _ body: (DiskStore) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    try requireParent(of: option)
    return try DiskStore.freeing(Self.storePath(option)) { (store) throws(SpoolError) in
      tell(of: store)
      return try body(store)
    }
  }

  /// Opens the store read-only.
  func readableStore(at option: String?) throws(SpoolError) -> ReadableStore {
    let readable = try ReadableStore(at: Self.storePath(option))
    tell(of: readable.store)
    return readable
  }

  /// Opens the store read-only; refused if it does not exist, probably because of a typing mistake.
  func existing(at option: String?) throws(SpoolError) -> DiskStore {
    try requireStore(at: Self.storePath(option))
    return try readableStore(at: option).store
  }

  func requireStore(at path: String) throws(SpoolError) {
    if DiskStore.isThere(at: path) { return }
    let reason =
      unsafe access(path, F_OK) == 0
      ? "nothing that a store is made of lies there" : unsafe String(cString: strerror(errno))
    throw SpoolError(
      "there is no store at \(absolute(path))", reason: reason,
      advice: "name the store's folder with --store; spool run makes one")
  }

  /// Reports a rebuilt database.
  private func tell(of store: DiskStore) {
    if let recovery = store.recovery { console.report("note: \(Format.visible(recovery.line))") }
    store.listen { [console] in console.report("note: \(Format.visible($0))") }
    store.listenToRuns { store, run in WordSearch(store).update(after: run) }
  }
}

extension WordSearch {
  /// Searches a store, and reports through it.
  init(_ store: DiskStore) {
    self.init(
      of: store, runs: store.runs, holds: { [store] in store.file(of: $0) != nil },
      in: store.path, isWritable: store.isWritable, note: { [store] in store.note($0) })
  }
}

/// A read-only store. If none exists, a temporary empty one that is deleted with this object.
final class ReadableStore {
  let store: DiskStore
  private let scratch: String?

  init(at path: String) throws(SpoolError) {
    if FileManager.default.fileExists(atPath: path) {
      scratch = nil
      store = try DiskStore(reading: path)
    } else {
      let folder = FileManager.default.temporaryDirectory.path + "/spool-\(UUID().uuidString)"
      scratch = folder
      store = try DiskStore(at: folder)
    }
  }

  deinit {
    if let scratch { try? FileManager.default.removeItem(atPath: scratch) }
  }
}

/// Required and free disk space of a run.
extension CommandContext {
  /// The space that a forecast needs on the disks of the store and the output folder.
  func need(_ forecast: Forecast, store option: String?, folder: String) -> RoomNeed {
    let store = disk(of: absolute(Self.storePath(option)))
    let exports = disk(of: folder)
    return RoomNeed(
      folder: folder, storeByteCount: forecast.storeByteCount,
      folderByteCount: forecast.publishedByteCount, storeFreeByteCount: store.freeByteCount,
      folderFreeByteCount: exports.freeByteCount, sharesDisk: store.device == exports.device)
  }

  /// The disk of a folder, or of the nearest existing one above, and its free bytes; 0 if unknown.
  /// - Parameter path: an absolute path.
  private func disk(of path: String) -> (device: dev_t, freeByteCount: Int) {
    var path = path
    var status = stat()
    while unsafe stat(path, &status) != 0, path.count > 1 {
      path = "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    }
    return (status.st_dev, (try? DiskStore.freeByteCount(inFolder: path)) ?? 0)
  }

  /// Opens the store for a plan. If its disk is too full even for that, refuses the run with an
  /// estimate of the required space.
  func store(
    for plan: Plan, at option: String?, _ options: Runner.Options
  ) throws(SpoolError) -> DiskStore {
    do throws(SpoolError) { return try store(at: option) } catch {
      guard error.isFullDisk, let readable = try? readableStore(at: option) else { throw error }
      let runner = Runner(
        store: readable.store, log: readable.store.runs,
        executors: [SoundPassExecutor(coreCount: CoreCount.online)],
        recorder: SilentRecorder(console), stop: StopRequest(), clock: SystemClock())
      guard let forecast = try? runner.forecast(plan, options),
        let refusal = need(forecast, store: option, folder: options.folder).finalRefusal
      else { throw error }
      throw refusal
    }
  }
}
