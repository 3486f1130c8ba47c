internal import CSQLite
import Glibc
internal import PipelineModel
import Platform

/// The result of a check of a database file.
enum DatabaseCondition: Hashable, Sendable {
  case sound
  /// An empty database, or none.
  case blank
  /// Not a database, or a broken one; in SQLite's own words.
  case damaged(String)

  /// Checks the database at `path`, which may be in use, without writing. Failures for other
  /// reasons (permissions, say) do not count as damage.
  init(at path: String) {
    var opened: OpaquePointer?
    // Opening for writing shows whether writing is possible.
    let isWritable = FilePath.isWritable(path)
    let flags = (isWritable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX
    let status = unsafe sqlite3_open_v2(path, &opened, flags, Database.fileSystem)
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

  /// The error text for a read-only header.
  static let lockedWords = "its header says that no Spool may write into it"

  /// The first fault that a check finds, or the error that stops it; nil for a sound database and
  /// for errors unrelated to its content.
  static func firstFault(_ handle: OpaquePointer, _ sql: String) -> String? {
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    var status = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
    if status == SQLITE_OK { status = unsafe sqlite3_step(statement) }
    switch status & 0xFF {
    case SQLITE_ROW:
      guard let text = unsafe sqlite3_column_text(statement, 0) else { return nil }
      let words = unsafe String(cString: text)
      if words.hasSuffix("error code=\(Database.damagedPage)") { return Database.damagedPageWords }
      return words == "ok" ? nil : firstLine(words)
    // The statement itself is valid: an unnamed error is an unknown file format.
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT, SQLITE_ERROR:
      return unsafe String(cString: sqlite3_errmsg(handle))
    case SQLITE_IOERR where unsafe Database.hasMetDamagedPage(handle):
      return Database.damagedPageWords
    default: return nil
    }
  }

  /// How a check's report ends if reading failed: SQLITE_IOERR_READ and SQLITE_IOERR_CORRUPTFS.
  private static let readCodes = ["error code=266", "error code=8458"]

  /// Whether a report is about unreadable sectors, which says nothing of the content.
  static func isReadFailure(
    _ words: String, _ handle: OpaquePointer, _ path: String
  ) -> Bool {
    unsafe readCodes.contains(where: words.hasSuffix)
      || (words != Database.damagedPageWords && sqlite3_system_errno(handle) == EIO)
      || Database.isUnreadable(path)
  }

  /// The report without its heading (`*** in database main ***`).
  private static func firstLine(_ words: String) -> String {
    let lines = words.split(separator: "\n")
    return String(lines.first { !$0.hasPrefix("***") } ?? lines.first ?? "")
  }

  /// The number in the first column of the first row; nil if there is none.
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
  /// Largest database that is checked whenever it is opened: about 1 ms per megabyte.
  private static var quickByteCount: Int64 { 4 << 20 }

  /// The first fault of a quick check, in SQLite's own words; nil if none.
  ///
  /// Up to 4 MB it checks the structure of every page, beyond that the schema and the ends of every
  /// table: under 5 ms either way.
  mutating func quickFault() throws(SpoolError) -> String? {
    if isLockedByItsHeader { return DatabaseCondition.lockedWords }
    let pages = (try? run("PRAGMA page_count", to: "check").first?.first?.integer) ?? 0
    let size = (try? run("PRAGMA page_size", to: "check").first?.first?.integer) ?? 0
    if pages * size <= Self.quickByteCount { return try fault("PRAGMA quick_check(1)") }
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

  /// All faults of a full check of pages, indices and references, in SQLite's own words.
  mutating func faults() throws(SpoolError) -> [String] {
    if let fault = try fault("PRAGMA integrity_check(1)") { return [fault] }
    let strays = (try? run("PRAGMA foreign_key_check", to: "check")) ?? []
    return strays.compactMap { row in
      row.first?.text.map { "a row of \($0) refers to one that is not there" }
    }
  }

  /// The first fault that a check finds. Throws if the disk cannot be read.
  private func fault(_ check: String) throws(SpoolError) -> String? {
    guard let words = unsafe DatabaseCondition.firstFault(handle, check) else { return nil }
    guard unsafe DatabaseCondition.isReadFailure(words, handle, path) else { return words }
    throw SpoolError("read", path, SystemError(EIO), advice: Self.unreadableAdvice)
  }
}

/// The first hundred bytes of a database file, where SQLite ignores damage:
/// https://www.sqlite.org/fileformat2.html#the_database_header.
struct DatabaseHeader {
  private let bytes: [UInt8]

  private static let byteCount = 100

  init(of path: String) throws(SpoolError) {
    bytes = try doing("read", path) { () throws(SystemError) in
      let file = try FileOperations.system.open(path, O_RDONLY)
      var bytes = [UInt8](repeating: 0, count: Self.byteCount)
      let count = try FileOperations.system.read(into: &bytes, from: file, at: 0)
      return Array(bytes[..<count])
    }
  }

  /// Whether SQLite would write the file: the write version (byte 18) is 1 (rollback journal) or 2
  /// (WAL).
  var isWritable: Bool { bytes.count == Self.byteCount && (1...2).contains(bytes[18]) }
}

/// Texts about a lost or damaged database.
enum DatabaseLoss {
  static let gone = "it is gone"
  static let empty = "there is nothing in it"

  /// What happened, in one sentence; `cause` is in SQLite's own words if it has some.
  static func line(_ cause: String) -> String { "the store's database was lost (\(cause))" }

  /// What it is rebuilt from.
  /// - Parameters:
  ///   - slot: the backup to start from; nil if there is none.
  ///   - isLogLost: whether there is no change log.
  static func source(_ slot: Int?, isLogLost: Bool = false) -> String {
    guard let slot else { return "the change log beside it" }
    return isLogLost
      ? "backup \(slot) alone, for the change log is lost too" : "backup \(slot) and the change log"
  }
}
