internal import CSQLite
internal import Glibc

/// Takes the changes of write transactions, in SQLite's format of patch sets: see
/// https://www.sqlite.org/sessionintro.html.
package struct ChangeRecorder: Sendable {
  /// The tables whose changes count.
  let tables: [String]
  /// Called at the beginning of the transaction; its error ends it. Also before reading, where the
  /// owner of the connection asks for it.
  let admit: @Sendable (inout Database) throws(SpoolError) -> Void
  /// Called inside the transaction, before its commit; its error rolls back. `isDurable` says
  /// whether the commit will be flushed; only then it is called without changes too.
  let append:
    @Sendable (_ changes: [UInt8], _ isDurable: Bool, inout Database) throws(SpoolError) -> Void

  package init(
    tables: [String],
    admit: @escaping @Sendable (inout Database) throws(SpoolError) -> Void = { _ in },
    append:
      @escaping @Sendable (
        _ changes: [UInt8], _ isDurable: Bool, inout Database
      ) throws(SpoolError) -> Void
  ) {
    self.tables = tables
    self.admit = admit
    self.append = append
  }
}

extension Database {
  /// The result of `body`, and what it changed in `tables`, as a patch set; empty for nothing.
  mutating func changes<Result>(
    in tables: [String], of body: (inout Database) throws(SpoolError) -> Result, to action: String
  ) throws(SpoolError) -> (Result, [UInt8]) {
    var session: OpaquePointer?
    guard unsafe sqlite3session_create(handle, "main", &session) == SQLITE_OK else {
      throw failure(action)
    }
    defer { unsafe sqlite3session_delete(session) }
    for table in tables {
      guard unsafe sqlite3session_attach(session, table) == SQLITE_OK else { throw failure(action) }
    }
    let result = try body(&self)
    if unsafe sqlite3session_isempty(session) != 0 { return (result, []) }
    var count: CInt = 0
    var bytes: UnsafeMutableRawPointer?
    guard unsafe sqlite3session_patchset(session, &count, &bytes) == SQLITE_OK else {
      throw failure(action)
    }
    defer { unsafe sqlite3_free(bytes) }
    let changes = unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    return (result, changes)
  }

  /// Applies a patch set, inside a transaction. Its rows replace those in their way; what is
  /// changed or deleted, and is not there, is left out.
  /// - Parameter table: the only table that is changed; nil for all.
  package func apply(
    _ changes: [UInt8], only table: String? = nil, to action: String
  ) throws(SpoolError) {
    if changes.isEmpty { return }
    var changes = changes
    let status = unsafe (table ?? "").withCString { wanted in
      unsafe changes.withUnsafeMutableBytes { bytes in
        unsafe sqlite3changeset_apply(
          handle, CInt(bytes.count), bytes.baseAddress,
          { wanted, name in
            let wanted = unsafe wanted?.assumingMemoryBound(to: CChar.self)
            guard let wanted = unsafe wanted, let name = unsafe name else { return 1 }
            return unsafe wanted.pointee == 0 || strcmp(wanted, name) == 0 ? 1 : 0
          },
          { _, conflict, _ in
            let isInTheWay =
              conflict == SQLITE_CHANGESET_DATA || conflict == SQLITE_CHANGESET_CONFLICT
            return isInTheWay ? SQLITE_CHANGESET_REPLACE : SQLITE_CHANGESET_OMIT
          }, UnsafeMutableRawPointer(mutating: wanted))
      }
    }
    guard status == SQLITE_OK else { throw failure(action) }
  }

  /// The primary keys, as text, of the rows that a patch set changes in its order.
  package static func keys(
    in changes: [UInt8]
  ) -> [(table: String, key: [String], isDeleted: Bool)] {
    if changes.isEmpty { return [] }
    var changes = changes
    var keys: [(table: String, key: [String], isDeleted: Bool)] = []
    unsafe changes.withUnsafeMutableBytes { bytes in
      var iterator: OpaquePointer?
      guard
        unsafe sqlite3changeset_start(&iterator, CInt(bytes.count), bytes.baseAddress) == SQLITE_OK
      else { return }
      defer { unsafe sqlite3changeset_finalize(iterator) }
      while unsafe sqlite3changeset_next(iterator) == SQLITE_ROW {
        var name: UnsafePointer<CChar>?
        var (columnCount, operation, isIndirect): (CInt, CInt, CInt) = (0, 0, 0)
        var isKey: UnsafeMutablePointer<UInt8>?
        unsafe sqlite3changeset_op(iterator, &name, &columnCount, &operation, &isIndirect)
        unsafe sqlite3changeset_pk(iterator, &isKey, nil)
        guard let name = unsafe name, let isKey = unsafe isKey else { continue }
        var key: [String] = []
        for column in 0..<columnCount where unsafe isKey[Int(column)] != 0 {
          var value: OpaquePointer?
          if operation == SQLITE_INSERT {
            unsafe sqlite3changeset_new(iterator, column, &value)
          } else {
            unsafe sqlite3changeset_old(iterator, column, &value)
          }
          let text = unsafe value.flatMap { unsafe sqlite3_value_text($0) }
          key.append(unsafe text.map { unsafe String(cString: $0) } ?? "")
        }
        keys.append((unsafe String(cString: name), key, operation == SQLITE_DELETE))
      }
    }
    return keys
  }
}

/// Rows as a patch set that inserts them, for a copy of whole tables.
package struct RowInsertions: Sendable {
  package private(set) var bytes: [UInt8] = []

  /// - Parameter keyOrder: of each column, its place in the primary key, from 1; 0 for none.
  package init(into table: String, keyOrder: [Int]) {
    bytes = [UInt8(ascii: "P")]
    append(count: keyOrder.count)
    bytes += keyOrder.map { UInt8($0) } + Array(table.utf8) + [0]
  }

  package mutating func append(_ row: SQLRow) {
    bytes += [UInt8(SQLITE_INSERT), 0]
    for value in row {
      switch value {
      case .null: bytes.append(UInt8(SQLITE_NULL))
      case .integer(let integer): append(UInt8(SQLITE_INTEGER), UInt64(bitPattern: integer))
      case .real(let real): append(UInt8(SQLITE_FLOAT), real.bitPattern)
      case .text(let text):
        bytes.append(UInt8(SQLITE_TEXT))
        append(count: text.utf8.count)
        bytes += Array(text.utf8)
      }
    }
  }

  private mutating func append(_ kind: UInt8, _ bits: UInt64) {
    bytes.append(kind)
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
  }

  /// As SQLite's variable-length integer, up to 2^28.
  private mutating func append(count: Int) {
    let groups = (0..<4).reversed().map { UInt8(count >> (7 * $0) & 0x7F) }
    let used = Array(groups.drop { $0 == 0 })
    let digits = used.isEmpty ? [0] : used
    bytes += digits.dropLast().map { $0 | 0x80 } + [digits[digits.count - 1]]
  }
}
