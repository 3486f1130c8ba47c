internal import CSQLite
import Glibc
internal import PipelineModel

/// What is said when SQLite fails: what it could not do, in its own words, and what to type next.
extension Database {
  /// The ways of failing to read that SQLite tells apart from failing to write.
  private static let readCodes: Set<CInt> = [
    SQLITE_IOERR | 1 << 8, SQLITE_IOERR | 2 << 8, SQLITE_IOERR | 7 << 8, SQLITE_IOERR | 33 << 8,
  ]

  /// What to do about a disk that does not give a database back.
  static let unreadableAdvice =
    "the disk may be failing: dmesg says more; copy the store to another one, and there "
    + "spool restore puts the newest backup in place"

  /// The failure of the last call, in SQLite's own words.
  /// - Parameter action: what the call was for, in words that a path may follow.
  static func failure(
    _ action: String, _ path: String, _ handle: OpaquePointer
  ) -> StoreError {
    let code = unsafe sqlite3_errcode(handle) & 0xFF
    // A full disk shows itself as an I/O error where SQLite maps its shared memory.
    let system = SystemError(unsafe sqlite3_system_errno(handle))
    let words = unsafe String(cString: sqlite3_errmsg(handle))
    // What cannot be read looks malformed where SQLite wants to know the tables.
    if code == SQLITE_CORRUPT, system.code == EIO || DatabaseHeader.isUnreadable(path) {
      return StoreError("read", path: path, SystemError(EIO), advice: unreadableAdvice)
    }
    let isReading = unsafe readCodes.contains(sqlite3_extended_errcode(handle))
    let isOfSystem = (code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system.code != 0
    let isFull = code == SQLITE_FULL || (code == SQLITE_IOERR && system.isFullDisk)
    // What fails to be read has nothing to do with what it was read for.
    return StoreError(
      isReading && !isFull ? "read" : action, path: path,
      reason: isOfSystem ? "\(system.words) (\(words))" : words,
      advice: (isOfSystem && system.code != EIO ? system.advice : nil) ?? advice(code),
      isFullDisk: isFull)
  }

  private static func advice(_ code: CInt) -> String? {
    switch code {
    case SQLITE_FULL: SystemError(ENOSPC).advice
    case SQLITE_IOERR: unreadableAdvice
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
