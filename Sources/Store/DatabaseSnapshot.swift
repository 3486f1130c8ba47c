import Glibc
internal import PipelineModel

/// Databases on media that may only be read, where SQLite cannot put its own files beside them.
enum DatabaseSnapshot {
  /// Whether this process can make files in a folder: it may, and there is room for them.
  static func isWritable(_ folder: String) -> Bool {
    unsafe access(folder, W_OK | X_OK) == 0 && hasRoom(leastRoom, in: folder)
  }

  /// What a store that is only looked at may still want to write, in bytes.
  private static let leastRoom = 1 << 20

  private static func hasRoom(_ byteCount: Int, in folder: String) -> Bool {
    var room = statvfs()
    guard unsafe statvfs(folder, &room) == 0 else { return true }
    return Int(clamping: room.f_bavail) * Int(clamping: room.f_frsize) >= byteCount
  }

  /// Opens a database for looking: in its place where that can be done, else in a copy. On a full disk
  /// SQLite has no room for its own files.
  static func open(_ layout: StoreLayout) throws(StoreError) -> Database {
    guard isWritable(layout.root) else { return try copy(of: layout.database) }
    do throws(StoreError) {
      return try Database(at: layout.database, for: .reading)
    } catch {
      guard error.isFullDisk else { throw error }
      return try copy(of: layout.database)
    }
  }

  /// Opens a copy of a database and of its log. The copy has no name any more when this returns, and
  /// is gone when it is closed.
  static func copy(of source: String) throws(StoreError) -> Database {
    var failure: StoreError?
    for parent in scratchParents {
      do throws(StoreError) {
        return try copy(of: source, in: parent)
      } catch {
        failure = failure ?? error
        // A store on the same full disk as the folder for scratch files still wants to be read.
        if !error.isFullDisk { break }
      }
    }
    throw failure ?? StoreError("copy", path: source, reason: "there is no room for it anywhere")
  }

  private static func copy(of source: String, in parent: String) throws(StoreError) -> Database {
    let folder = try scratchFolder(in: parent)
    let path = folder + "/spool.sqlite"
    defer {
      for file in [path, path + "-wal", path + "-shm"] { _ = unsafe unlink(file) }
      _ = unsafe rmdir(folder)
    }
    let copy = FileCopy(files: .system)
    try copy.copy(from: source, to: path)
    if (try? FileStamp(at: source + "-wal")) != nil {
      try copy.copy(from: source + "-wal", to: path + "-wal")
    }
    _ = unsafe chmod(path, 0o600)
    let database = try Database(at: path)
    // Taken out of WAL mode, it needs no other file, and can do without its name.
    try database.script("PRAGMA journal_mode = MEMORY", to: "read")
    return database
  }

  /// Where copies may lie; the second is in memory, on most systems.
  private static var scratchParents: [String] {
    [unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp", "/dev/shm"]
  }

  private static func scratchFolder(in parent: String) throws(StoreError) -> String {
    var name = Array("\(parent)/spool-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&name) != nil else {
      throw StoreError("copy the database to", path: parent, .last)
    }
    return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
