internal import CSQLite
internal import PipelineModel

extension Database {
  /// Copies the whole database, as it is at one moment, into a new file. Others may go on reading
  /// and writing; the copy is not flushed.
  func copy(to target: String) throws(StoreError) {
    let action = "copy the database to"
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let status = unsafe sqlite3_open_v2(target, &opened, flags, nil)
    defer { unsafe sqlite3_close(opened) }
    guard status == SQLITE_OK, let other = unsafe opened else {
      throw unsafe Self.failure(action, target, opened, status)
    }
    // Nobody needs half a copy: no journal, and one flush of the whole at the end.
    unsafe sqlite3_exec(other, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nil, nil, nil)
    guard let backup = unsafe sqlite3_backup_init(other, "main", handle, "main") else {
      throw unsafe Self.failure(action, target, other, sqlite3_errcode(other))
    }
    unsafe sqlite3_backup_step(backup, -1)
    let result = unsafe sqlite3_backup_finish(backup)
    guard result == SQLITE_OK else { throw unsafe Self.failure(action, target, other, result) }
  }

  private static func failure(
    _ action: String, _ path: String, _ handle: OpaquePointer?, _ status: CInt
  ) -> StoreError {
    let words = unsafe handle.map { unsafe String(cString: sqlite3_errmsg($0)) }
    let general = unsafe String(cString: sqlite3_errstr(status))
    return StoreError(
      action, path: path, reason: words == "not an error" ? general : words ?? general,
      advice: "check the room and the permissions there")
  }
}
