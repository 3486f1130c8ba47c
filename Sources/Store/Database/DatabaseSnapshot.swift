import Glibc
import PipelineModel
import Platform

/// Databases on read-only media, where SQLite cannot put its own files beside them.
enum DatabaseSnapshot {
  /// Whether this process can make files in a store's folder that its owner can read: permission and
  /// room.
  static func isWritable(_ folder: String) -> Bool {
    FilePath.obstacle(to: folder, W_OK | X_OK) == nil
      && StoreLayout(root: folder).ownerBesidesRoot == nil
      && (try? FilePath.freeByteCount(inFolder: folder)) ?? .max >= leastRoom
  }

  /// Bytes that a reader of a store may write.
  private static let leastRoom = 1 << 20

  /// Opens a database for reading: in place if possible, else in a copy. On a full disk SQLite has
  /// no room for its own files.
  static func open(_ layout: StoreLayout) throws(Failure) -> Database {
    guard isWritable(layout.root) else { return try openedCopy(of: layout.database) }
    do throws(SpoolError) {
      return try Database(at: layout.database, for: .reading)
    } catch {
      // Damage in a writable place was reported before.
      guard error.isFullDisk else { throw .uncopied(error) }
      return try openedCopy(of: layout.database)
    }
  }

  enum Failure: Error {
    /// No copy could be made; says nothing of the database.
    case uncopied(SpoolError)
    case unreadable(SpoolError)

    var error: SpoolError {
      switch self {
      case .uncopied(let error), .unreadable(let error): error
      }
    }
  }

  /// Opens an unlinked copy of a database and its log, which is gone when it is closed.
  static func copy(of source: String) throws(SpoolError) -> Database {
    do throws(Failure) { return try openedCopy(of: source) } catch { throw error.error }
  }

  /// The same, with a failed copy told apart from a damaged database.
  static func openedCopy(of source: String) throws(Failure) -> Database {
    var refusals: [String] = []
    var full: Failure?
    for parent in scratchParents {
      let folder: String
      do throws(SystemError) {
        folder = try FileOperations.uncounted.makeUniqueFolder("\(parent)/spool-")
      } catch {
        refusals.append("\(parent): \(error.words)")
        continue
      }
      do throws(Failure) {
        return try copy(of: source, in: folder)
      } catch {
        // The folder for scratch files may be on the same full disk.
        guard error.error.isFullDisk else { throw error }
        full = full ?? error
      }
    }
    if let full { throw full }
    throw .uncopied(
      SpoolError(
        "look at", source,
        reason: "there is no room for scratch files (\(refusals.joined(separator: "; ")))",
        advice: "set TMPDIR to a folder that can be written"))
  }

  private static func copy(of source: String, in folder: String) throws(Failure) -> Database {
    let path = folder + "/spool.sqlite"
    defer {
      for file in [path, path + "-wal", path + "-shm"] {
        try? FileOperations.uncounted.unlink(file)
      }
      try? FileOperations.uncounted.removeFolder(folder)
    }
    do throws(SpoolError) {
      let files = FileOperations.system
      try files.copyFile(from: source, to: path)
      if (try? FileStamp(at: source + "-wal")) != nil {
        try files.copyFile(from: source + "-wal", to: path + "-wal")
      }
    } catch {
      throw .uncopied(error)
    }
    try? FileOperations.uncounted.setMode(0o600, at: path)
    do throws(SpoolError) {
      let database = try Database(at: path)
      // Out of WAL mode it needs no other file, and no name.
      try database.script("PRAGMA journal_mode = MEMORY", to: "read")
      return database
    } catch {
      throw error.isFullDisk ? .uncopied(error) : .unreadable(error)
    }
  }

  /// Folders for copies; the second is in memory on most systems.
  private static var scratchParents: [String] {
    [unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp", "/dev/shm"]
  }
}

/// A readable database where nothing can be repaired.
extension DatabaseSnapshot {
  /// A migrated copy of a store's database, or of the newest good backup with a line that says so
  /// if the database is damaged.
  static func readable(
    _ layout: StoreLayout, _ slots: BackupSlots, _ complaint: inout String?
  ) throws(SpoolError) -> Database {
    let fault: String
    do throws(SpoolError) {
      var copy = try copy(of: layout.database)
      if let found = try self.fault(in: &copy, at: layout.database) {
        fault = found
      } else {
        try Schema.current.migrate(&copy, at: layout.database)
        return copy
      }
    } catch {
      if (try? FileStamp(at: layout.database)) == nil {
        fault = DatabaseLoss.gone
      } else {
        guard case .damaged(let reason) = DatabaseCondition(at: layout.database) else {
          throw error
        }
        fault = reason
      }
    }
    guard let slot = slots.newestGood else {
      throw SpoolError(
        "read", layout.database, reason: DatabaseLoss.line(fault),
        advice: "where the store can be written, the next command makes it again from "
          + DatabaseLoss.source(nil))
    }
    var copy = try copy(of: slots.path(slot))
    try Schema.current.migrate(&copy, at: slots.path(slot))
    complaint =
      "\(DatabaseLoss.line(fault)) and cannot be made again here: "
      + "this is how things stood in backup \(slot)"
    return copy
  }

  /// The fault of a copy; throws if a newer Spool has written it.
  private static func fault(
    in copy: inout Database, at path: String
  ) throws(SpoolError) -> String? {
    let status = try? Schema.current.status(of: &copy)
    if case .newer(let version)? = status { throw Schema.current.newer(version, path) }
    if let fault = try copy.quickFault() { return fault }
    if case .damaged(let reason) = try Schema.current.status(of: &copy) { return reason }
    return nil
  }
}
