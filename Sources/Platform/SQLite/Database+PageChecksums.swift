internal import CSQLite
internal import CSealedPages
internal import Glibc

/// Checksums of pages, and of the frames of a write-ahead log: `Sources/System/CSealedPages`.
extension Database {
  /// What SQLite opens files through: it verifies every page and every frame that is read. The name of a
  /// VFS of SQLite's.
  package static var fileSystem: String? {
    unsafe sealed_pages_vfs().map { unsafe String(cString: $0) }
  }

  /// SQLite's result for a page, or a frame of the log, that is not what was written.
  package static let damagedPage: CInt = SQLITE_IOERR | 32 << 8

  /// The reason of an error for such a page.
  package static let damagedPageWords = "a page of it is not what was written"

  /// Whether the last call met such a page. Of one of the schema, SQLite keeps only that reading failed.
  package static func hasMetDamagedPage(_ handle: OpaquePointer) -> Bool {
    let code = unsafe sqlite3_extended_errcode(handle)
    return unsafe code == damagedPage || code == SQLITE_IOERR && sqlite3_system_errno(handle) == 0
  }

  /// Whether every page of the file has a checksum. A database in memory has none.
  package var hasPageChecksums: Bool {
    var answer: CInt = 0
    let status = unsafe sqlite3_file_control(handle, "main", CInt(sealed_pages_query), &answer)
    return status == SQLITE_OK && answer == 1
  }

  /// Writes the whole database again, with a checksum in every page; does nothing if it has them. One
  /// transaction, which needs the room of the database twice for a moment.
  /// - Returns: whether it has them now: not while another connection reads.
  package mutating func addPageChecksums(to action: String) throws(SpoolError) -> Bool {
    if hasPageChecksums { return true }
    try script("VACUUM", to: action)
    try run("PRAGMA wal_checkpoint(TRUNCATE)", to: action)
    return hasPageChecksums
  }

  /// Makes room for checksums in the pages of a database that is new, or is written anew as a whole.
  static func reserveChecksums(in handle: OpaquePointer) {
    var count = CInt(sealed_pages_checksum_size)
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count)
  }

  /// Says of a new, empty database that it becomes a copy of this one: its first page may be written
  /// after others.
  func expectChecksums(
    in copy: OpaquePointer, _ target: String, _ action: String
  ) throws(SpoolError) {
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    guard unsafe sqlite3_prepare_v2(handle, "PRAGMA page_size", -1, &statement, nil) == SQLITE_OK,
      unsafe sqlite3_step(statement) == SQLITE_ROW
    else { throw failure(action) }
    var size = unsafe sqlite3_column_int(statement, 0)
    let status = unsafe sqlite3_file_control(copy, "main", CInt(sealed_pages_copy), &size)
    guard status == SQLITE_OK else {
      throw SpoolError(action, target, reason: "no room could be made for its checksums")
    }
  }

  /// The error for a damaged page.
  static func damage(in path: String, _ advice: Advice) -> SpoolError {
    SpoolError("read", path, reason: damagedPageWords, advice: advice.damaged, kind: .broken)
  }

  /// Calls `body` before every write of a database or its log in this process; for tests that kill it
  /// there.
  package static func watchWrites(_ body: (@convention(c) () -> Void)?) {
    sealed_pages_watch(body)
  }
}
