package import PipelineModel
package import Platform
import Synchronization

/// The store on a disk: a folder of artifacts and a database that describes them.
///
/// ```
/// artifacts/ab/abcdef…   finished files, read-only, named by their SHA-256
/// damaged/               damaged files, out of use
/// drafts/                files being written, named after their processes
/// work/abcdef….7/        files of resumable work, and the lock of its owner
/// spool.sqlite           checkpoints, runs, unfinished work, recordings
/// search.sqlite          the full-text index of all transcripts, which Search owns
/// changes-N              the log of all changes, from which a lost database is rebuilt
/// backups/               recent copies of the database
/// receipts.log           the transparency log once more
/// receipts.head.json     its signed tree head
/// lost-records           artifacts whose records were lost with the database
/// ballast                reserved space, for freeing a full disk
/// ```
///
/// A file is flushed before it gets its final name, and that name is flushed before the database
/// refers to it: after a power cut, everything that the database names is there. Several threads
/// and processes may use one store.
package final class DiskStore: Sendable {
  /// The name of its database: a folder with such a file is a store.
  package static let databaseName = "spool.sqlite"

  package let path: String

  let layout: StoreLayout
  let files: FileOperations
  let artifacts: ArtifactFolder
  let drafts: DraftFolder
  let changeLog: ChangeLog
  let backups: BackupSlots
  /// How the database was recovered when this store was opened; nil if it was sound.
  package let recovery: Recovery?
  /// Shared while the store is open, so that the database is not replaced.
  private let lock: FolderLock
  /// The store's folder as it was opened; nil if that is unknown.
  let place: FileStamp?
  let database: SharedDatabase
  let news = StoreEvent()
  /// Called after the end of each run.
  private let runListener = Mutex<(@Sendable (DiskStore, RunRecord) -> Void)?>(nil)
  /// Users' folders that were searched for files of dead processes.
  let sweptFolders = Mutex<Set<String>>([])
  /// Where the disks of output folders are mounted, by folder.
  let outputDisks = Mutex<[String: String]>([:])
  let reserve: DiskReserve
  let ballast: Ballast
  /// Whether damaged artifacts can be set aside.
  package let isWritable: Bool
  let clock: @Sendable () -> Int64
  /// Nanoseconds since boot.
  let steadyClock: @Sendable () -> Int64
  /// How long a stopped process keeps its work without activity, in seconds.
  let grace: Double

  /// Opens the store in the folder at `path`; makes it if there is none.
  ///
  /// Removes what dead processes left unfinished. A lost or damaged database is rebuilt from the
  /// newest good backup and the change log: see `recovery`. Without either, an empty one takes its
  /// place, and the files that it does not name are kept: see ``LostRecords``.
  package convenience init(at path: String) throws(SpoolError) {
    try self.init(at: path, files: .system)
  }

  init(
    at path: String, files: FileOperations, schema: Schema = .current,
    clock: @escaping @Sendable () -> Int64 = Clock.now,
    steadyClock: @escaping @Sendable () -> Int64 = Clock.sinceBoot, grace: Double = 10
  ) throws(SpoolError) {
    let layout = StoreLayout(root: FilePath.absolute(path))
    try FilePath.requireWritable(layout.root)
    for folder in [
      layout.root, layout.artifacts, layout.drafts, layout.work,
    ] {
      try files.makeFolders(
        folder, advice: "name a folder with \(option: .store) or SPOOL_STORE")
    }
    self.path = layout.root
    self.layout = layout
    self.files = files
    self.clock = clock
    self.steadyClock = steadyClock
    self.grace = grace
    drafts = DraftFolder(path: layout.drafts, files: files)
    reserve = DiskReserve(in: drafts)
    ballast = Ballast(layout, drafts)
    changeLog = ChangeLog(layout: layout, drafts: drafts, files: files)
    backups = BackupSlots(folder: layout.backups, files: files, schema: schema)
    isWritable = true
    lock = try FolderLock(layout.root)
    place = try? FileStamp(following: layout.root)
    var recovery: Recovery?
    let opening = DatabaseOpening(
      layout: layout, files: files, schema: schema, log: changeLog, slots: backups, clock: clock)
    let isSuspect = opening.wasCutOff(lock)
    database = SharedDatabase(try opening.open(lock, &recovery))
    artifacts = ArtifactFolder(layout, files: files, database: database, clock: clock)
    self.recovery = recovery
    try catchUp(isSuspect: isSuspect, schema)
    drafts.sweep()
    try sweepUnfinished()
    try sweepWork()
    try dropUnneededRuns()
  }

  package var runs: RunRepository { RunRepository(self) }
  package var batches: BatchLog { BatchLog(database: database, layout: layout) }
  package var recordings: RecordingRepository { RecordingRepository(self) }
  package var inboxes: InboxTable { InboxTable(database: database, clock: clock) }
  package var corrections: CorrectionTable { CorrectionTable(database: database) }
  package var receipts: TransparencyLog {
    TransparencyLog(database: database, files: ReceiptLog(layout: layout, drafts: drafts))
  }
  package var stamps: StampQueue {
    StampQueue(database: database, lock: layout.stamping, files: files)
  }

  package var deliveries: DeliveryQueue {
    DeliveryQueue(
      database: database, lock: layout.delivering, layout: layout, files: files, clock: clock)
  }

  /// Whether there is a store in the folder at `path`.
  package static func isThere(at path: String) -> Bool {
    StoreLayout(root: FilePath.absolute(path)).isThere
  }

  /// Why the user may not look into the store's folder at `path`; nil if nothing forbids it, or if it
  /// does not exist.
  package static func refusal(toRead path: String) -> SpoolError? {
    StoreLayout(root: FilePath.absolute(path)).refusalToRead
  }

  /// In seconds since 1970.
  var now: Double { Double(clock()) / 1e9 }

  /// In seconds since boot.
  var sinceBoot: Double { Double(steadyClock()) / 1e9 }

  /// Opens the store at `path` for reading. If it is read-only or its disk is full, the database is
  /// read from a copy, and nothing is removed or rebuilt.
  package convenience init(reading path: String) throws(SpoolError) {
    let layout = StoreLayout(root: FilePath.absolute(path))
    do throws(SpoolError) {
      if DatabaseSnapshot.isWritable(layout.root) {
        try self.init(at: path)
      } else {
        try self.init(copying: layout)
      }
    } catch {
      guard error.isFullDisk else { throw error }
      try self.init(copying: layout)
    }
  }

  private init(copying layout: StoreLayout) throws(SpoolError) {
    path = layout.root
    self.layout = layout
    files = .system
    grace = 10
    clock = Clock.now
    steadyClock = Clock.sinceBoot
    isWritable = false
    drafts = DraftFolder(path: layout.drafts, files: files)
    reserve = DiskReserve(in: drafts)
    ballast = Ballast(layout, drafts)
    changeLog = ChangeLog(layout: layout, drafts: drafts, files: files)
    backups = BackupSlots(folder: layout.backups, files: files, schema: .current)
    lock = try FolderLock(layout.root)
    place = try? FileStamp(following: layout.root)
    _ = lock.tryShared()
    var complaint: String?
    database = SharedDatabase(try DatabaseSnapshot.readable(layout, backups, &complaint))
    artifacts = ArtifactFolder(layout, files: files, database: database, clock: clock)
    recovery = nil
    if let complaint { news.tell(complaint) }
  }

  /// Takes in what the change log has and the database lost.
  /// - Parameter isSuspect: whether the last process did not close the database.
  private func catchUp(isSuspect: Bool, _ schema: Schema) throws(SpoolError) {
    let lost = try withDatabase { (database) throws(SpoolError) in
      // A database of another format is a test's and has no change log.
      guard try ChangeLog.isThere(in: &database) else { return CatchUp() }
      var lost = try changeLog.catchUp(&database)
      database.recorder = changeLog.recorder(knowing: schema)
      let old = changeLog.old
      if old.isThere {
        do throws(SpoolError) {
          lost.add(try old.takeIn(&database, changeLog))
        } catch {
          // What frees room must work: the old records and the database keep all until there is some.
          guard error.isFullDisk else { throw error }
          if try ChangeLog.state(in: &database).generation == 0 { database.recorder = nil }
          news.tell("\(error.account): the old records are kept until then")
          return lost
        }
      }
      old.remove()
      changeLog.mend(in: &database, isSuspect: isSuspect)
      changeLog.sweep(in: &database)
      return lost
    }
    if !lost.isEmpty { news.tell(lost.line) }
  }

  /// The result of `body` on a database in memory with what the change log says; nil if the log
  /// cannot be read.
  func logged<Result>(
    only table: String? = nil, _ body: (inout Database) throws(SpoolError) -> Result?
  ) -> Result? {
    let state = try? withDatabase { (database) throws(SpoolError) in
      try ChangeLog.state(in: &database)
    }
    guard let state, var log = try? changeLog.replayed(state, .current, only: table) else {
      return nil
    }
    return try? body(&log)
  }

  /// The other processes that have this store open, in words.
  package var othersInStore: [String] { lock.otherHolders }

  /// Calls `body` with the database, exclusive to this thread.
  func withDatabase<Result>(
    _ body: (inout sending Database) throws(SpoolError) -> sending Result
  ) throws(SpoolError) -> Result {
    try database.with(body)
  }

  /// As `withDatabase`, but commits are durable with the next flushed one: for what may be lost in
  /// a power cut.
  func withDeferringDatabase<Result>(
    to action: String,
    _ body: (inout sending Database) throws(SpoolError) -> sending Result
  ) throws(SpoolError) -> sending Result {
    try database.withDeferredFlush(to: action, body)
  }

  /// Bytes that a store of one run takes besides its artifacts: the ballast, and the database with
  /// its log.
  package static let ownByteCount = Ballast.byteCount + (3 << 20)

  /// Bytes free for an unprivileged user in a folder's file system.
  package static func freeByteCount(inFolder path: String) throws(SpoolError) -> Int {
    try doing("look for free space in", path) { () throws(SystemError) in
      try FilePath.freeByteCount(inFolder: path)
    }
  }

  /// Delivers a message once in the life of this store, as the store's own.
  package func note(_ line: String) { news.tellOnce(line) }

  /// Calls `listener` after the end of each run, on the thread that saves it.
  package func listenToRuns(
    _ listener: @escaping @Sendable (_ store: DiskStore, _ run: RunRecord) -> Void
  ) {
    runListener.withLock { $0 = listener }
  }

  func tellListener(of run: RunRecord) { runListener.withLock(\.self)?(self, run) }
}

/// Messages of a store, delivered to its listener or kept until there is one.
final class StoreEvent: Sendable {
  private struct State {
    var listener: (@Sendable (String) -> Void)?
    var waiting: [String] = []
    var told: Set<String> = []
  }

  private let state = Mutex(State())

  /// Delivers all kept messages, and later ones at once.
  func listen(_ listener: @escaping @Sendable (String) -> Void) {
    let waiting = state.withLock { state in
      state.listener = listener
      defer { state.waiting = [] }
      return state.waiting
    }
    waiting.forEach(listener)
  }

  func tell(_ line: String) {
    let listener = state.withLock { state in
      if state.listener == nil { state.waiting.append(line) }
      return state.listener
    }
    listener?(line)
  }

  /// Delivers a message once in the life of this store.
  func tellOnce(_ line: String) {
    if state.withLock({ $0.told.insert(line).inserted }) { tell(line) }
  }
}

extension DiskStore {
  /// Opens the store at `path` for freeing space, also on a full disk: first removes files of dead
  /// processes, then the ballast, which is restored after the store was closed.
  package static func freeing<Result>(
    _ path: String, _ body: (DiskStore) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    let layout = StoreLayout(root: FilePath.absolute(path))
    let drafts = DraftFolder(path: layout.drafts, files: .system)
    let ballast = Ballast(layout, drafts)
    try FilePath.requireWritable(layout.root)
    if !DatabaseSnapshot.isWritable(layout.root) {
      drafts.sweep()
      ballast.giveUp()
    }
    defer { ballast.restore() }
    return try open(layout, ballast, body)
  }

  /// The store is closed on return, and SQLite has freed its log.
  private static func open<Result>(
    _ layout: StoreLayout, _ ballast: Ballast, _ body: (DiskStore) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    let store: DiskStore
    do throws(SpoolError) {
      store = try DiskStore(at: layout.root)
    } catch {
      // Quotas and reserved blocks show only when writing.
      guard error.isFullDisk, ballast.giveUp() else { throw error }
      store = try DiskStore(at: layout.root)
    }
    return try body(store)
  }
}

extension SharedDatabase {
  /// Runs one statement, durable on return.
  @discardableResult
  func run(
    _ sql: String, _ values: [SQLValue] = [], to action: String
  ) throws(SpoolError) -> [SQLRow] {
    try with { (database) throws(SpoolError) in try database.run(sql, values, to: action) }
  }
}

/// Reserved space for the last record of the runs in progress: on a full disk a pause could not be
/// recorded, and the run would look killed.
final class DiskReserve: Sendable {
  private struct State: ~Copyable {
    var file: OpenFile?
    var runs: Set<RunID> = []
  }

  /// Enough for a run's row and its record in the change log.
  static let byteCount = 256 << 10

  private let state = Mutex(State())
  private let drafts: DraftFolder

  init(in drafts: DraftFolder) { self.drafts = drafts }

  deinit { giveUp() }

  /// Reserves space until this run ends, if there is any.
  func keep(for run: RunID) {
    state.withLock { state in
      guard state.runs.insert(run).inserted, state.file == nil else { return }
      state.file = try? drafts.makeFile(filledTo: Self.byteCount)
    }
  }

  /// Frees the space when the last run ends.
  func end(_ run: RunID) {
    let isLast = state.withLock { state in
      state.runs.remove(run)
      return state.runs.isEmpty
    }
    if isLast { giveUp() }
  }

  /// Frees the space now.
  func giveUp() {
    state.withLock { state in
      if let file = state.file.take() { try? drafts.files.unlink(file.path) }
    }
  }
}
