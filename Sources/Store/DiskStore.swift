import Glibc
internal import Hashing
public import PipelineModel
internal import Synchronization

/// The store on a disk: a folder with finished work and a database that says what it is.
///
/// ```
/// artifacts/ab/abcdef…   finished files, read-only, named by their SHA-256
/// damaged/               what was found to be damaged, out of use
/// drafts/                files being written, named after the process that writes them
/// work/abcdef….7/        files of work that can be gone on with, and the lock of who is at it
/// spool.sqlite           checkpoints, runs, work under way, and what is known of files outside
/// search.sqlite          the words of all transcripts, to be searched
/// records/               checkpoints and runs once more, as small files
/// backups/               the database as it was lately
/// receipts.log           the receipts that were written, once more
/// receipts.head.json     the signed head of their tree
/// ballast                room to begin with where a full disk is freed
/// ```
///
/// A file is flushed before it gets its final name, and that name is flushed before the database
/// may speak of it: so whatever the database says is there after a power cut, and whatever it does
/// not speak of can be made again. Several threads and several processes may use one store.
public final class DiskStore: Sendable {
  /// The store's folder.
  public let path: String

  let layout: StoreLayout
  let files: FileOperations
  let artifacts: ArtifactFolder
  let drafts: DraftFolder
  let records: RecordFolder
  let backups: BackupSlots
  var ledger: Ledger { Ledger(records: records) }
  /// How the database came back when this store was opened; nil if nothing was wrong.
  public let recovery: Recovery?
  /// Held for as long as the store is open, so that nobody replaces the database meanwhile.
  private let lock: FolderLock
  private let database: SharedDatabase
  let news = StoreNews()
  /// Users' folders in which nothing of dead processes is left.
  let sweptFolders = Mutex<Set<String>>([])
  let reserve: DiskReserve
  let ballast: Ballast
  /// Whether what is damaged can be taken out of use.
  let isWritable: Bool
  /// The time in nanoseconds since 1970.
  let clock: @Sendable () -> Int64
  /// The time in nanoseconds since the machine was booted.
  let steadyClock: @Sendable () -> Int64
  /// How long a stopped process keeps its work without a sign of life, in seconds.
  let grace: Double

  /// Opens the store in the folder at `path`, and makes it if there is none.
  ///
  /// Removes what processes that have died left unfinished. A database that is lost or damaged is
  /// made again from the newest good backup and the records beside it: see `recovery`.
  public convenience init(at path: String) throws(StoreError) {
    try self.init(at: path, files: .system)
  }

  init(
    at path: String, files: FileOperations, schema: Schema = .current,
    clock: @escaping @Sendable () -> Int64 = Clock.now,
    steadyClock: @escaping @Sendable () -> Int64 = Clock.sinceBoot, grace: Double = 10
  ) throws(StoreError) {
    let layout = StoreLayout(root: FilePath.absolute(path))
    let folders = FolderMaker(files: files)
    try FolderMaker.requireWritable(layout.root)
    for folder in [
      layout.root, layout.artifacts, layout.drafts, layout.work, layout.records,
    ] {
      try folders.make(folder)
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
    records = RecordFolder(layout: layout, drafts: drafts, files: files)
    backups = BackupSlots(folder: layout.backups, files: files, schema: schema)
    isWritable = true
    lock = try FolderLock(layout.root)
    var recovery: Recovery?
    let opening = DatabaseOpening(
      layout: layout, files: files, schema: schema, records: records, slots: backups, clock: clock)
    database = SharedDatabase(try opening.open(lock, &recovery))
    artifacts = ArtifactFolder(layout, files: files, database: database, clock: clock)
    self.recovery = recovery
    try catchUp(with: opening.rebuild)
    drafts.sweep()
    try sweepUnfinished()
    try sweepWork()
  }

  /// Whether there is a store in the folder at `path`.
  public static func isThere(at path: String) -> Bool {
    StoreLayout(root: FilePath.absolute(path)).isThere
  }

  /// The time, in seconds since 1970.
  var now: Double { Double(clock()) / 1e9 }

  /// The time, in seconds since the machine was booted.
  var sinceBoot: Double { Double(steadyClock()) / 1e9 }

  /// Opens the store at `path` to look at it. One that may not be written, or has no room for it, is
  /// read all the same: the database is looked at in a copy, and nothing is swept or made again.
  public convenience init(reading path: String) throws(StoreError) {
    let layout = StoreLayout(root: FilePath.absolute(path))
    do throws(StoreError) {
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

  private init(copying layout: StoreLayout) throws(StoreError) {
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
    records = RecordFolder(layout: layout, drafts: drafts, files: files)
    backups = BackupSlots(folder: layout.backups, files: files, schema: .current)
    lock = try FolderLock(layout.root)
    _ = lock.tryShared()
    var complaint: String?
    database = SharedDatabase(try DatabaseSnapshot.readable(layout, backups, &complaint))
    artifacts = ArtifactFolder(layout, files: files, database: database, clock: clock)
    recovery = nil
    if let complaint { news.tell(complaint) }
  }

  /// Takes in what the records vouch for and the database has lost.
  private func catchUp(with rebuild: Rebuild) throws(StoreError) {
    let lost = try withDatabase { (database) throws(StoreError) in
      // A database of another format than this one's is a test's, and has no ledger.
      guard try Ledger.isThere(in: &database) else { return CatchUp() }
      let lost = try ledger.catchUp(&database, with: rebuild)
      ledger.sweep(in: &database)
      return lost
    }
    if !lost.isEmpty { news.tell(lost.line) }
  }

  /// The other processes that have this store open, in words.
  public var othersInStore: [String] { lock.otherHolders }

  /// Calls `body` with the database, which no other thread uses meanwhile.
  func withDatabase<Result>(
    _ body: (inout sending Database) throws(StoreError) -> sending Result
  ) throws(StoreError) -> Result {
    try database.with(body)
  }

  /// Calls `body` with the database, whose commits reach the disk with the next one that is flushed:
  /// for what nobody vouches for by itself, and a power cut may take.
  func withDeferringDatabase<Result>(
    to action: String,
    _ body: (inout sending Database) throws(StoreError) -> sending Result
  ) throws(StoreError) -> sending Result {
    try database.withDeferredFlush(to: action, body)
  }

  /// Bytes free for a user in the file system of a folder.
  public static func freeByteCount(inFolder path: String) throws(StoreError) -> Int {
    var status = statvfs()
    guard unsafe statvfs(path, &status) == 0 else {
      throw StoreError("look for free space in", path: path, .last)
    }
    return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
  }
}
