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

/// Opening the store for a command.
extension CommandContext {
  /// Opens the store; creates it if it does not exist.
  func store(at option: String?) throws(Refusal) -> DiskStore {
    try requireParent(of: option)
    let store = try open(option) { (path) throws(SpoolError) in try DiskStore(at: path) }
    return told(store, store)
  }

  /// Requires the parent of a named store folder: a missing parent is probably a typing mistake.
  private func requireParent(of option: String?) throws(Refusal) {
    guard let named = option ?? Environment.variables["SPOOL_STORE"], !named.isEmpty else { return }
    let path = absolute(named)
    var names = path.split(separator: "/").filter { $0 != "." }
    guard !names.isEmpty, names.removeLast() != ".." else { return }
    let parent = "/" + names.joined(separator: "/")
    guard unsafe access(parent, F_OK) != 0, errno == ENOENT else { return }
    throw Refusal(
      text: ErrorText(
        SpoolError(
          "cannot make the store \(path)",
          reason: "the folder above it, \(parent), does not exist",
          advice: "make the folder above it, or name another with --store", cause: .environment)
      ).render(console), code: .failed)
  }

  /// Opens or creates the store for a command that frees space, even on a full disk.
  func freeing<Result>(
    _ option: String?, _ body: (DiskStore) throws(SpoolError) -> Result
  ) throws(Refusal) -> Result {
    try requireParent(of: option)
    return try open(option) { (path) throws(SpoolError) in
      try DiskStore.freeing(path) { (store) throws(SpoolError) in try body(told(store, store)) }
    }
  }

  /// Opens the store read-only.
  func readableStore(at option: String?) throws(Refusal) -> ReadableStore {
    let readable = try open(option) { (path) throws(SpoolError) in try ReadableStore(at: path) }
    return told(readable, readable.store)
  }

  /// Opens the store read-only; refused if it does not exist, probably because of a typing mistake.
  func existingStore(at option: String?) throws(Refusal) -> ReadableStore {
    let path = StoreLocation.resolve(option: option, environment: Environment.variables)
    try requireStore(at: path)
    return try readableStore(at: option)
  }

  func requireStore(at path: String) throws(Refusal) {
    if DiskStore.isThere(at: path) { return }
    let reason =
      unsafe access(path, F_OK) == 0
      ? "nothing that a store is made of lies there" : unsafe String(cString: strerror(errno))
    throw Refusal(
      text: ErrorText(
        SpoolError(
          "there is no store at \(absolute(path))", reason: reason,
          advice: "name the store's folder with --store; spool run makes one")
      ).render(console), code: .failed)
  }

  /// Reports a rebuilt database.
  private func told<Opened>(_ opened: Opened, _ store: DiskStore) -> Opened {
    if let recovery = store.recovery { console.report("note: \(Format.visible(recovery.line))") }
    store.listen { [console] in console.report("note: \(Format.visible($0))") }
    store.listenToRuns { store, run in WordSearch(store).update(after: run) }
    return opened
  }

  private func open<Opened>(
    _ option: String?, _ body: (String) throws(SpoolError) -> Opened
  ) throws(Refusal) -> Opened {
    do {
      return try body(
        StoreLocation.resolve(option: option, environment: Environment.variables))
    } catch {
      throw Refusal(
        text: ErrorText(error).render(console), code: .failed,
        isFullDisk: error.isFullDisk)
    }
  }
}

extension WordSearch {
  /// Searches a store, and reports through it.
  init(_ store: DiskStore) {
    self.init(
      of: store, runs: store.runs, in: store.path, isWritable: store.isWritable,
      note: { [store] in store.note($0) })
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
    let store = DiskPlace(
      of: absolute(StoreLocation.resolve(option: option, environment: Environment.variables)))
    let exports = DiskPlace(of: folder)
    return RoomNeed(
      folder: folder, storeByteCount: forecast.storeByteCount,
      folderByteCount: forecast.publishedByteCount, storeFreeByteCount: store.freeByteCount,
      folderFreeByteCount: exports.freeByteCount, sharesDisk: store.isShared(with: exports))
  }

  /// Opens the store for a plan. If its disk is too full even for that, refuses the run with an
  /// estimate of the required space.
  func store(
    for plan: Plan, at option: String?, _ options: Runner.Options
  ) throws(Refusal) -> DiskStore {
    do throws(Refusal) { return try store(at: option) } catch {
      guard error.isFullDisk, let readable = try? readableStore(at: option) else { throw error }
      let runner = Runner(
        store: readable.store, log: readable.store.runs,
        executors: [SoundPassExecutor(coreCount: CoreCount.online)],
        recorder: SilentRecorder(console), stop: StopRequest(), clock: SystemClock())
      guard let forecast = try? runner.forecast(plan, options),
        let refusal = need(forecast, store: option, folder: options.folder).finalRefusal
      else { throw error }
      throw Refusal(text: ErrorText(refusal).render(console), code: .failed)
    }
  }
}

/// The disk of a folder; for a missing folder, the disk of the nearest existing one above.
struct DiskPlace {
  private let device: dev_t
  /// Free bytes; 0 if unknown.
  let freeByteCount: Int

  /// - Parameter path: an absolute path.
  init(of path: String) {
    var path = path
    var status = stat()
    while unsafe stat(path, &status) != 0, path.count > 1 {
      path = "/" + path.split(separator: "/").dropLast().joined(separator: "/")
    }
    device = status.st_dev
    freeByteCount = (try? DiskStore.freeByteCount(inFolder: path)) ?? 0
  }

  /// Whether both are the same disk.
  func isShared(with other: DiskPlace) -> Bool { device == other.device }
}
