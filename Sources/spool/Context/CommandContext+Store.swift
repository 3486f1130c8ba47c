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
  func openStore() throws(SpoolError) -> DiskStore { try store(at: named(Options.store)) }

  /// The store that the user named, as commands name it that are typed in any folder; nil for the usual
  /// one.
  var namedStore: String? { named(Options.store).map(ResolvedPath.asTyped) }

  /// Opens the store; creates it if it does not exist.
  func store(at option: String?) throws(SpoolError) -> DiskStore {
    try StoreLocation.requireHome(option: option, environment: Environment.variables)
    try requireParent(of: option)
    try refuseFile(Self.storePath(option))
    let store = try DiskStore(at: Self.storePath(option))
    tell(of: store)
    if store.recovery != nil { catchUpLedger(in: store) }
    return store
  }

  /// Takes into the database what the files of the ledger have beyond it, as after a restore: backups
  /// copy the database alone.
  /// - Returns: how many receipts it lacks all the same, as where no key is known that signed them.
  @discardableResult
  func catchUpLedger(in store: DiskStore) -> Int {
    func lackingCount() -> Int {
      guard let records = try? store.receipts.records(), records.isBehindFiles else { return 0 }
      return records.logged.count - records.entries.count
    }
    guard lackingCount() > 0 else { return 0 }
    if store.isWritable { try? LogSigner(store, keys: keyFolder()).prepare() }
    return lackingCount()
  }

  /// The store's folder, existing or not.
  var storePath: String { Self.storePath(named(Options.store)) }

  /// The store's folder, existing or not.
  /// - Parameter option: `--store` as typed.
  static func storePath(_ option: String?) -> String {
    StoreLocation.resolve(option: option, environment: Environment.variables)
  }

  /// Requires the parent of a named store folder: a missing parent is probably a typing mistake.
  func requireParent(of option: String?) throws(SpoolError) {
    guard let named = option ?? Environment.variables["SPOOL_STORE"], !named.isEmpty else { return }
    let path = absolute(named)
    var names = path.pathNames.filter { $0 != "." }
    guard !names.isEmpty, names.removeLast() != ".." else { return }
    let parent = "/" + names.joined(separator: "/")
    guard FilePath.obstacle(to: parent)?.code == ENOENT else { return }
    throw SpoolError(
      "cannot make the store \(path)",
      reason: "the folder above it, \(parent), does not exist",
      advice: "make the folder above it, or name another with --store", cause: .environment)
  }

  /// Opens or creates the store for a command that frees space, even on a full disk.
  func freeing<Result>(
    _ body: (DiskStore) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    try requireParent(of: named(Options.store))
    try refuseFile(storePath)
    return try DiskStore.freeing(storePath) { (store) throws(SpoolError) in
      tell(of: store)
      return try body(store)
    }
  }

  /// Runs plans in a store with what this program has for them.
  func runner(
    in store: DiskStore, _ recorder: any RunRecorder, _ clock: SystemClock, _ stop: StopRequest,
    receiptWriter: (any ReceiptWriter)? = nil, delivery: (any RunDelivery)? = nil
  ) -> Runner {
    Runner(
      store: store, log: store.runs, executors: [SoundPassExecutor(coreCount: CoreCount.online)],
      recorder: recorder, stop: stop, clock: clock, receiptWriter: receiptWriter,
      delivery: delivery, corrections: store.wordOverlay)
  }

  /// Opens the store read-only.
  func readableStore() throws(SpoolError) -> ReadableStore {
    let readable = try ReadableStore(at: storePath)
    tell(of: readable.store)
    return readable
  }

  /// Opens the store read-only; refused if it does not exist, probably because of a typing mistake.
  func existingStore() throws(SpoolError) -> DiskStore {
    try requireStore()
    return try readableStore().store
  }

  /// Refuses a file in a store's place, and says so of a backup.
  private func refuseFile(_ path: String) throws(SpoolError) {
    guard let stamp = try? FileStamp(following: path), stamp.isRegularFile else { return }
    let file = ShellWords.line([path])
    throw .usage(
      "\(ShellWords.visible(path: absolute(path))) is a file, and no store",
      reason: DiskStore.isBackup(path)
        ? "it is a backup of a store: its records, without recordings, sound and words"
        : "a store is a folder",
      advice: DiskStore.isBackup(path)
        ? "spool store restore \(file) --store DIR puts it into the store DIR, which is made if there is none"
        : "name the store's folder with --store")
  }

  /// Throws for paths of recordings that the user's store knows, if there is one: the temporary store of
  /// a quick command knows none.
  func refuseRecordings(at paths: [String]) throws(SpoolError) {
    guard DiskStore.isThere(at: storePath) else { return }
    let store = try readableStore().store
    for path in paths {
      if let refusal = try store.refusal(toReplaceRecording: path) { throw refusal }
    }
  }

  func requireStore() throws(SpoolError) {
    let path = storePath
    if DiskStore.isThere(at: path) { return }
    if let refusal = DiskStore.refusal(toRead: path) { throw refusal }
    try refuseFile(path)
    let reason =
      FilePath.obstacle(to: path)?.words ?? "nothing that a store is made of lies there"
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

extension DiskStore {
  /// The input files of a run, with what the store keeps in place of every file that is gone, as those of a watch are
  /// once a run is done.
  func keptFiles(of run: RunRecord) -> [String: SourceFile] {
    files(of: run).reduce(into: [:]) { files, entry in
      let kept =
        FilePath.obstacle(to: entry.value.path, R_OK) == nil
        ? nil : run.recordings?[entry.key].flatMap { file(of: $0) }
      files[entry.key] = kept.map { SourceFile($0, named: entry.value.name) } ?? entry.value
    }
  }
}

extension WordSearch {
  /// Searches a store, and reports through it.
  init(_ store: DiskStore) {
    self.init(
      of: store, runs: store.runs, holds: { [store] in store.file(of: $0) != nil },
      corrections: RecordedCorrections(
        versions: { [store] () throws(SpoolError) in
          (try store.corrections.versions(), try store.corrections.transcriptVersions())
        },
        all: { [store] recordings, transcript throws(SpoolError) in
          try store.corrections.overlay(
            of: recordings.compactMap(Digest.init(hex:)), over: transcript)
        }),
      in: store.path, isWritable: store.isWritable, note: { [store] in store.note($0) })
  }
}

/// A read-only store. If none exists, a temporary empty one that is deleted with this object.
final class ReadableStore {
  let store: DiskStore
  private let scratch: String?

  init(at path: String) throws(SpoolError) {
    if FilePath.exists(path) {
      if let refusal = DiskStore.refusal(toRead: path) { throw refusal }
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
  func need(_ forecast: Forecast, folder: String) -> RoomNeed {
    let store = disk(of: absolute(storePath))
    let exports = disk(of: folder)
    return RoomNeed(
      folder: folder, storeByteCount: forecast.storeByteCount,
      folderByteCount: forecast.publishedByteCount, storeFreeByteCount: store.freeByteCount,
      folderFreeByteCount: exports.freeByteCount, sharesDisk: store.device == exports.device)
  }

  /// The disk of a folder, or of the nearest existing one above, and its free bytes; 0 if unknown.
  /// - Parameter path: an absolute path.
  func disk(of path: String) -> (device: Int64, freeByteCount: Int) {
    let path = FilePath.existing(path)
    let stamp = try? FileStamp(following: path)
    return (stamp?.device ?? 0, (try? DiskStore.freeByteCount(inFolder: path)) ?? 0)
  }

  /// Opens the store for a plan. If its disk is too full even for that, refuses the run with an
  /// estimate of the required space.
  func store(for plan: Plan, _ options: Runner.Options) throws(SpoolError) -> DiskStore {
    do throws(SpoolError) { return try openStore() } catch {
      guard error.isFullDisk, let readable = try? readableStore() else { throw error }
      guard let forecast = try? forecast(plan, options, in: readable.store) else { throw error }
      throw RoomNeed.refusal(after: error, need(forecast, folder: options.folder))
    }
  }

  /// What a run of the plan would do.
  func forecast(
    _ plan: Plan, _ options: Runner.Options, in store: DiskStore
  ) throws(SpoolError) -> Forecast {
    let runner = runner(in: store, SilentRecorder(console), SystemClock(), StopRequest())
    do throws(RunError) { return try runner.forecast(plan, options) } catch {
      throw SpoolError(error)
    }
  }
}

extension CommandContext {
  /// Warns of receipts that cover other bytes than those of files that took the place of others.
  /// - Parameter paths: the files; absolute.
  /// - Returns: the warnings.
  @discardableResult
  func warnOfBrokenReceipts(at paths: [String], in store: DiskStore) -> [String] {
    let writer = receiptWriter(for: store)
    let warnings = paths.flatMap {
      writer.warnings(ofReplaced: $0, digest: try? store.digest(ofFile: $0))
    }
    for warning in warnings { console.report("warning: \(Format.visible(warning))") }
    return warnings
  }
}
