internal import CSQLite
import Glibc
internal import PipelineModel

/// What a look at a database says.
enum DatabaseCondition: Hashable, Sendable {
  /// Nothing seems wrong.
  case sound
  /// There is a database without anything in it, or none.
  case blank
  /// It is no database, or a broken one; in SQLite's own words.
  case damaged(String)

  /// Looks at the database at `path`, which may be in use, and writes nothing into it. What cannot
  /// be looked at for other reasons (permissions, say) is not called damaged.
  init(at path: String) {
    var opened: OpaquePointer?
    // What may be written is opened so, because only then it shows whether it can be.
    let isWritable = unsafe access(path, W_OK) == 0
    let flags = (isWritable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX
    let status = unsafe sqlite3_open_v2(path, &opened, flags, nil)
    defer { unsafe sqlite3_close(opened) }
    guard status == SQLITE_OK, let handle = unsafe opened else {
      self = (try? FileStamp(at: path)) == nil ? .blank : .sound
      return
    }
    unsafe sqlite3_forbid_checkpoint_on_close(handle)
    unsafe sqlite3_busy_timeout(handle, 1000)
    if let reason = unsafe Self.firstFault(handle, "PRAGMA quick_check(1)") {
      self = unsafe Self.isReadFailure(reason, handle, path) ? .sound : .damaged(reason)
    } else if isWritable, unsafe sqlite3_db_readonly(handle, "main") == 1 {
      self = .damaged(Self.lockedWords)
    } else {
      self = unsafe Self.number(handle, "SELECT count(*) FROM sqlite_schema") == 0 ? .blank : .sound
    }
  }

  /// What is said of a file that forbids by itself to write into it.
  static let lockedWords = "its header says that no Spool may write into it"

  /// The first thing that a check finds wrong, or the error that stops it; nil for a sound
  /// database, and for errors that say nothing of the database itself.
  static func firstFault(_ handle: OpaquePointer, _ sql: String) -> String? {
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    var status = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    if status == SQLITE_OK { status = unsafe sqlite3_step(statement) }
    switch status & 0xFF {
    case SQLITE_ROW:
      guard let text = unsafe sqlite3_column_text(statement, 0) else { return nil }
      let words = unsafe String(cString: text)
      return words == "ok" ? nil : firstLine(words)
    // The look is nothing that SQLite could misunderstand: an error without a name of its own is a
    // file format that it does not know.
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_ERROR:
      return unsafe String(cString: sqlite3_errmsg(handle))
    default: return nil
    }
  }

  /// How the report of a check ends where reading failed: SQLITE_IOERR_READ and SQLITE_IOERR_CORRUPTFS.
  private static let readCodes = ["error code=266", "error code=8458"]

  /// Whether what a check complains of is that the disk would not give the bytes, which says nothing of
  /// what they are.
  static func isReadFailure(
    _ words: String, _ handle: OpaquePointer, _ path: String
  ) -> Bool {
    unsafe readCodes.contains(where: words.hasSuffix) || sqlite3_system_errno(handle) == EIO
      || DatabaseHeader.isUnreadable(path)
  }

  /// SQLite's report without its heading (`*** in database main ***`).
  private static func firstLine(_ words: String) -> String {
    let lines = words.split(separator: "\n")
    return String(lines.first { !$0.hasPrefix("***") } ?? lines.first ?? "")
  }

  /// The number in the first column of the first row; nil where there is none.
  private static func number(_ handle: OpaquePointer, _ sql: String) -> Int64? {
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    guard unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
      unsafe sqlite3_step(statement) == SQLITE_ROW
    else { return nil }
    return unsafe sqlite3_column_int64(statement, 0)
  }
}

extension Database {
  /// A database up to so many bytes is looked through whenever it is opened: about 1 ms for a
  /// megabyte.
  private static var quickByteCount: Int64 { 4 << 20 }

  /// What a quick look at an open database finds wrong, in SQLite's own words; nil if nothing.
  ///
  /// Up to 4 MB the structure of every page is looked at, beyond that the schema and the ends of
  /// every table: less than 5 ms either way.
  mutating func quickFault() throws(StoreError) -> String? {
    if isLockedByItsHeader { return DatabaseCondition.lockedWords }
    let pages = (try? run("PRAGMA page_count", to: "check").first?.first?.integer) ?? 0
    let size = (try? run("PRAGMA page_size", to: "check").first?.first?.integer) ?? 0
    if pages * size <= Self.quickByteCount {
      return try fault("PRAGMA quick_check(1)")
    }
    let keys =
      (try? run(
        """
        SELECT t.name, c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
        WHERE t.type = 'table' AND c.pk = 1
        """, to: "check")) ?? []
    for key in keys {
      guard let table = key[0].text, let column = key[1].text else { continue }
      for order in ["ASC", "DESC"] {
        let look = "SELECT 'ok' FROM \"\(table)\" ORDER BY \"\(column)\" \(order) LIMIT 1"
        if let fault = try fault(look) { return fault }
      }
    }
    return keys.isEmpty ? "its tables cannot be read" : nil
  }

  /// Everything that a look at every page, index and reference finds wrong, in SQLite's own words.
  mutating func faults() throws(StoreError) -> [String] {
    if let fault = try fault("PRAGMA integrity_check(1)") { return [fault] }
    let strays = (try? run("PRAGMA foreign_key_check", to: "check")) ?? []
    return strays.compactMap { row in
      row.first?.text.map { "a row of \($0) refers to one that is not there" }
    }
  }

  /// The first thing that a check finds wrong. Throws where the disk would not let it look.
  private func fault(_ check: String) throws(StoreError) -> String? {
    guard let words = unsafe DatabaseCondition.firstFault(handle, check) else { return nil }
    guard unsafe DatabaseCondition.isReadFailure(words, handle, path) else { return words }
    throw StoreError("read", path: path, SystemError(EIO), advice: Self.unreadableAdvice)
  }
}
