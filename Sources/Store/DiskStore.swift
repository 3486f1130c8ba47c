import Glibc
internal import Hashing
public import PipelineModel
internal import Synchronization

/// The store on a disk: a folder with finished work and a database that says what it is.
///
/// ```
/// artifacts/ab/abcdef…   finished files, read-only, named by their SHA-256
/// drafts/                files being written, named after the process that writes them
/// work/abcdef….7/        files of work that can be gone on with, and the lock of who is at it
/// spool.sqlite           checkpoints, runs, work under way, and what is known of files outside
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
  private let database: Mutex<Database>
  /// The time in nanoseconds since 1970.
  let clock: @Sendable () -> Int64
  /// How long a stopped process keeps its work without a sign of life, in seconds.
  let grace: Double

  /// Opens the store in the folder at `path`, and makes it if there is none.
  ///
  /// Removes what processes that have died left unfinished.
  public convenience init(at path: String) throws(StoreError) {
    try self.init(at: path, files: .system)
  }

  init(
    at path: String, files: FileOperations, schema: Schema = .current,
    clock: @escaping @Sendable () -> Int64 = Clock.now, grace: Double = 10
  ) throws(StoreError) {
    let layout = StoreLayout(root: FilePath.absolute(path))
    let folders = FolderMaker(files: files)
    for folder in [layout.root, layout.artifacts, layout.drafts, layout.work] {
      try folders.make(folder)
    }
    var database = try Database(at: layout.database)
    try schema.migrate(&database, at: layout.database)
    self.path = layout.root
    self.layout = layout
    self.files = files
    self.clock = clock
    self.grace = grace
    artifacts = ArtifactFolder(layout, files: files)
    drafts = DraftFolder(path: layout.drafts, files: files)
    self.database = Mutex(database)
    drafts.sweep()
    try sweepUnfinished()
    try sweepWork()
  }

  /// The time, in seconds since 1970.
  var now: Double { Double(clock()) / 1e9 }

  /// Calls `body` with the database, which no other thread uses meanwhile.
  func withDatabase<Result>(
    _ body: (inout sending Database) throws(StoreError) -> sending Result
  ) throws(StoreError) -> Result {
    try database.withLock(body)
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
