internal import CSQLite
internal import Glibc

/// Errors from SQLite's results.
extension Database {
  /// The codes of failed reads.
  private static let readCodes: Set<CInt> = [
    SQLITE_IOERR | 1 << 8, SQLITE_IOERR | 2 << 8, SQLITE_IOERR | 7 << 8, SQLITE_IOERR | 33 << 8,
  ]

  /// The error of the last call.
  /// - Parameter action: its purpose, in words that a path may follow.
  static func failure(
    _ action: String, _ path: String, _ handle: OpaquePointer, _ advice: Advice
  ) -> SpoolError {
    if unsafe hasMetDamagedPage(handle), !isUnreadable(path) { return damage(in: path, advice) }
    let code = unsafe sqlite3_errcode(handle) & 0xFF
    // A full disk appears as an I/O error where SQLite maps its shared memory.
    let system = SystemError(unsafe sqlite3_system_errno(handle))
    let words = unsafe String(cString: sqlite3_errmsg(handle))
    // Unreadable schema pages appear as corruption.
    if code == SQLITE_CORRUPT, system.code == EIO || isUnreadable(path) {
      return SpoolError("read", path, SystemError(EIO), advice: advice.unreadable)
    }
    let isReading = unsafe readCodes.contains(sqlite3_extended_errcode(handle))
    let isOfSystem = (code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system.code != 0
    let isFull = code == SQLITE_FULL || (isOfSystem && system.isFullDisk)
    // A failed read does not depend on its purpose.
    return SpoolError(
      isReading && !isFull ? "read" : action, path,
      reason: isOfSystem ? "\(system.words) (\(words))" : words,
      advice: (isOfSystem && system.code != EIO ? system.advice : nil) ?? advice.text(for: code),
      cause: isFull ? .fullDisk : .environment)
  }

  /// Whether a file has unreadable sectors, which SQLite does not always report. Reads all of it.
  package static func isUnreadable(_ path: String) -> Bool {
    var bytes = [UInt8](repeating: 0, count: FileOperations.pieceByteCount)
    var offset: Int64 = 0
    do throws(SystemError) {
      let file = try OpenFile(path, O_RDONLY)
      while true {
        let count = try FileOperations.uncounted.read(into: &bytes, from: file, at: offset)
        if count == 0 { return false }
        offset += Int64(count)
      }
    } catch { return error.code == EIO }
  }
}

extension Database.Advice {
  fileprivate func text(for code: CInt) -> String? {
    switch code {
    case SQLITE_IOERR: unreadable
    case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH, SQLITE_CANTOPEN: denied
    case SQLITE_NOTADB, SQLITE_CORRUPT: damaged
    case SQLITE_BUSY, SQLITE_LOCKED: "another process is writing for a long time: try again later"
    default: nil
    }
  }
}
