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

  /// Opens a database for looking: in its place where that can be done, else in a copy.
  static func open(_ layout: StoreLayout) throws(StoreError) -> Database {
    if isWritable(layout.root) { return try Database(at: layout.database, for: .reading) }
    return try copy(of: layout)
  }

  /// Opens a copy of a store's database and of its log. The copy has no name any more when this
  /// returns, and is gone when it is closed.
  static func copy(of layout: StoreLayout) throws(StoreError) -> Database {
    let byteCount = (try? FileStamp(at: layout.database))?.byteCount ?? 0
    let folder = try scratchFolder(for: Int(byteCount) + leastRoom)
    let path = folder + "/spool.sqlite"
    defer {
      for file in [path, path + "-wal", path + "-shm"] { _ = unsafe unlink(file) }
      _ = unsafe rmdir(folder)
    }
    let copy = FileCopy(files: .system)
    try copy.copy(from: layout.database, to: path)
    if (try? FileStamp(at: layout.database + "-wal")) != nil {
      try copy.copy(from: layout.database + "-wal", to: path + "-wal")
    }
    _ = unsafe chmod(path, 0o600)
    let database = try Database(at: path)
    // Taken out of WAL mode, it needs no other file, and can do without its name.
    try database.script("PRAGMA journal_mode = MEMORY", to: "read")
    return database
  }

  /// A new folder, in memory where the disk is full.
  private static func scratchFolder(for byteCount: Int) throws(StoreError) -> String {
    let usual = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    let parent = hasRoom(byteCount, in: usual) ? usual : "/dev/shm"
    var name = Array("\(parent)/spool-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&name) != nil else {
      throw StoreError("copy the database to", path: parent, .last)
    }
    return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
