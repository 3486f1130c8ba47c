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
  static func open(_ layout: StoreLayout) throws(Failure) -> Database {
    guard isWritable(layout.root) else { return try openedCopy(of: layout.database) }
    do throws(StoreError) {
      return try Database(at: layout.database, for: .reading)
    } catch {
      // What is damaged where it may be written was told before it was opened.
      guard error.isFullDisk else { throw .uncopied(error) }
      return try openedCopy(of: layout.database)
    }
  }

  /// Why there is no copy to look at.
  enum Failure: Error {
    /// It could not be made, which says nothing of the database itself.
    case uncopied(StoreError)
    /// It was made, and cannot be opened.
    case unreadable(StoreError)

    var error: StoreError {
      switch self {
      case .uncopied(let error), .unreadable(let error): error
      }
    }
  }

  /// Opens a copy of a database and of its log. The copy has no name any more when this returns, and
  /// is gone when it is closed.
  static func copy(of source: String) throws(StoreError) -> Database {
    do throws(Failure) { return try openedCopy(of: source) } catch { throw error.error }
  }

  /// The same, for whoever wants to tell a database that is damaged from one that cannot be looked at.
  static func openedCopy(of source: String) throws(Failure) -> Database {
    var refusals: [String] = []
    var full: Failure?
    for parent in scratchParents {
      let folder: String
      do throws(SystemError) { folder = try scratchFolder(in: parent) } catch {
        refusals.append("\(parent): \(error.words)")
        continue
      }
      do throws(Failure) {
        return try copy(of: source, in: folder)
      } catch {
        // A store on the same full disk as the folder for scratch files still wants to be read.
        guard error.error.isFullDisk else { throw error }
        full = full ?? error
      }
    }
    if let full { throw full }
    throw .uncopied(
      StoreError(
        "look at", path: source,
        reason: "there is no room for scratch files (\(refusals.joined(separator: "; ")))",
        advice: "set TMPDIR to a folder that can be written"))
  }

  private static func copy(of source: String, in folder: String) throws(Failure) -> Database {
    let path = folder + "/spool.sqlite"
    defer {
      for file in [path, path + "-wal", path + "-shm"] { _ = unsafe unlink(file) }
      _ = unsafe rmdir(folder)
    }
    do throws(StoreError) {
      let copy = FileCopy(files: .system)
      try copy.copy(from: source, to: path)
      if (try? FileStamp(at: source + "-wal")) != nil {
        try copy.copy(from: source + "-wal", to: path + "-wal")
      }
    } catch {
      throw .uncopied(error)
    }
    _ = unsafe chmod(path, 0o600)
    do throws(StoreError) {
      let database = try Database(at: path)
      // Taken out of WAL mode, it needs no other file, and can do without its name.
      try database.script("PRAGMA journal_mode = MEMORY", to: "read")
      return database
    } catch {
      throw error.isFullDisk ? .uncopied(error) : .unreadable(error)
    }
  }

  /// Where copies may lie; the second is in memory, on most systems.
  private static var scratchParents: [String] {
    [unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp", "/dev/shm"]
  }

  private static func scratchFolder(in parent: String) throws(SystemError) -> String {
    var name = Array("\(parent)/spool-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&name) != nil else { throw .last }
    return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
