internal import CSQLite
import Glibc
internal import PipelineModel

/// What is said when SQLite fails: what it could not do, in its own words, and what to type next.
extension Database {
  /// The ways of failing to read that SQLite tells apart from failing to write.
  private static let readCodes: Set<CInt> = [
    SQLITE_IOERR | 1 << 8, SQLITE_IOERR | 2 << 8, SQLITE_IOERR | 7 << 8, SQLITE_IOERR | 33 << 8,
  ]

  /// The failure of the last call, in SQLite's own words.
  /// - Parameter action: what the call was for, in words that a path may follow.
  static func failure(
    _ action: String, _ path: String, _ handle: OpaquePointer
  ) -> StoreError {
    let code = unsafe sqlite3_errcode(handle) & 0xFF
    // A full disk shows itself as an I/O error where SQLite maps its shared memory.
    let system = SystemError(unsafe sqlite3_system_errno(handle))
    let words = unsafe String(cString: sqlite3_errmsg(handle))
    if code == SQLITE_IOERR, !system.isFullDisk {
      let isReading = unsafe readCodes.contains(sqlite3_extended_errcode(handle))
      return StoreError(
        isReading ? "read" : action, path: path,
        reason: system.code == 0 ? words : "\(system.words) (\(words))",
        advice: system.advice ?? SystemError(EIO).advice)
    }
    return StoreError(
      action, path: path, reason: words, advice: advice(code),
      isFullDisk: code == SQLITE_FULL || code == SQLITE_IOERR)
  }

  private static func advice(_ code: CInt) -> String? {
    switch code {
    case SQLITE_FULL, SQLITE_IOERR: SystemError(ENOSPC).advice
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH, SQLITE_CANTOPEN:
      "check who owns the folder and its permissions, or choose another with --store"
    case SQLITE_NOTADB, SQLITE_CORRUPT:
      "spool repair rebuilds it from the records that lie beside it"
    case SQLITE_BUSY, SQLITE_LOCKED: "another spool is writing for a long time: try again later"
    default: nil
    }
  }

  /// Whether the file itself says that it may not be written, although the system would allow it.
  var isLockedByItsHeader: Bool {
    guard unsafe sqlite3_db_readonly(handle, "main") == 1 else { return false }
    // A database whose name is gone already is a copy of this process's own.
    return unsafe access(path, W_OK) == 0 || errno == ENOENT
  }
}
