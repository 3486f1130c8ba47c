internal import CSQLite
internal import Glibc
import PipelineModel
import Platform
internal import Synchronization

extension Database {
  /// Opens one of a store's databases, with the store's advice and crash points. The changes of a scratch
  /// database do not count as changes of the store.
  init(at path: String, for access: Access = .writing, patience: CInt = 10_000) throws(SpoolError) {
    try self.init(at: path, for: access, patience: patience, advice: Self.storeAdvice)
    if access != .scratch { unsafe CrashPoint.chosen?.watchCommits(of: handle) }
  }

  /// Opens a backup, which no process changes, to read it.
  init(backup path: String) throws(SpoolError) {
    try self.init(at: path, for: .frozen, patience: 10_000, advice: Self.backupAdvice)
  }

  static let unreadableAdvice =
    "the disk may be failing: dmesg says more; copy the store to another one, and there "
    + "\(command: .restore) puts the newest backup in place"

  private static let storeAdvice = Advice(
    damaged: "\(command: .repair) rebuilds it from the change log beside it",
    unreadable: unreadableAdvice,
    denied: "check who owns the folder and its permissions, or choose another with "
      + "\(option: .store)")

  private static let backupAdvice = Advice(
    damaged: "choose another backup: \(command: .restore) \(option: .list) shows the store's own",
    unreadable: unreadableAdvice, denied: "check who owns it and its permissions")

  /// Whether the header forbids writing although the system would allow it.
  var isLockedByItsHeader: Bool {
    guard unsafe sqlite3_db_readonly(handle, "main") == 1 else { return false }
    // A database without a name is this process's own copy.
    return [nil, ENOENT].contains(FilePath.obstacle(to: path, W_OK)?.code)
  }
}

/// Values as JSON in the database's columns: sorted keys, so that equal values are equal text.
enum StoredJSON {
  static func encode(_ value: some Encodable, to action: String) throws(SpoolError) -> String {
    do { return try value.jsonText() } catch {
      throw SpoolError(action, "the store", reason: "\(error)")
    }
  }

  static func decode<Value: Decodable>(_ text: String) throws -> Value {
    try Value(jsonText: text)
  }
}

/// The store's database, for one thread at a time.
final class SharedDatabase: Sendable {
  private let database: Mutex<Database>

  init(_ database: consuming sending Database) { self.database = Mutex(database) }

  func with<Result>(
    _ body: (inout sending Database) throws(SpoolError) -> sending Result
  ) throws(SpoolError) -> Result {
    try database.withLock { (database) throws(SpoolError) in
      try database.flushCommits(to: "use")
      try database.checkAdmission()
      return try body(&database)
    }
  }

  /// As `with`; commits are durable with the next flushed one.
  func withDeferredFlush<Result>(
    to action: String,
    _ body: (inout sending Database) throws(SpoolError) -> sending Result
  ) throws(SpoolError) -> sending Result {
    try database.withLock { (database) throws(SpoolError) in
      try database.deferFlushes(to: action)
      try database.checkAdmission()
      return try body(&database)
    }
  }
}
