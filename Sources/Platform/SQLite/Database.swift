internal import CSQLite
internal import Glibc

/// A connection to an SQLite database: WAL, every commit flushed, foreign keys enforced, and in what it
/// makes, a checksum for every page. Prepared statements are cached.
@safe package struct Database: ~Copyable {
  package let handle: OpaquePointer
  private var statements: [String: OpaquePointer]
  private var isFlushing = true
  package let path: String
  private let advice: Advice
  /// Takes the changes of every write transaction right before its commit; nil for none.
  package var recorder: ChangeRecorder?

  /// What may be done with a database.
  package enum Access: Sendable {
    case writing
    /// Reads while other processes may write.
    case reading
    /// Reads a file that is not written meanwhile, in any folder. Ignores a write-ahead log.
    case frozen
    /// In memory.
    case scratch
  }

  /// What the owner of a database advises on errors.
  package struct Advice: Sendable {
    /// The file is damaged, or is no database.
    var damaged: String?
    /// The disk cannot be read.
    var unreadable = SystemError(EIO).advice
    /// The file may not be opened or written.
    var denied: String? = "check who owns the folder and its permissions"

    package init() {}

    package init(damaged: String, unreadable: String, denied: String) {
      self.damaged = damaged
      self.unreadable = unreadable
      self.denied = denied
    }
  }

  /// - Parameter patience: how long to wait for other processes, in milliseconds.
  package init(
    at path: String, for access: Access, patience: CInt = 10_000, advice: Advice
  ) throws(SpoolError) {
    unsafe handle = try Self.open(path, access, patience, advice)
    unsafe statements = [:]
    self.path = path
    self.advice = advice
  }

  deinit {
    unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
    unsafe sqlite3_close(handle)
  }

  /// Runs one statement and returns its rows.
  /// - Parameter action: its purpose, in words that a path may follow.
  @discardableResult
  package mutating func run(
    _ sql: String, _ values: [SQLValue] = [], to action: String
  ) throws(SpoolError) -> [SQLRow] {
    // A statement of its own is a transaction too.
    if recorder != nil, Self.isChange(sql), unsafe sqlite3_get_autocommit(handle) != 0 {
      return try transaction(to: action) { (database) throws(SpoolError) in
        try database.run(sql, values, to: action)
      }
    }
    let statement = try unsafe prepared(sql, to: action)
    defer {
      unsafe sqlite3_reset(statement)
      unsafe sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() {
      guard unsafe Self.bind(value, to: statement, at: CInt(index + 1)) == SQLITE_OK else {
        throw failure(action)
      }
    }
    var rows: [SQLRow] = []
    while true {
      switch unsafe sqlite3_step(statement) {
      case SQLITE_ROW: unsafe rows.append(Self.row(of: statement))
      case SQLITE_DONE: return rows
      default: throw failure(action)
      }
    }
  }

  private static func isChange(_ sql: String) -> Bool {
    ["INSERT", "UPDATE", "DELETE"].contains { sql.hasPrefix($0) }
  }

  /// Runs statements without results, uncached and unrecorded.
  package func script(_ sql: String, to action: String) throws(SpoolError) {
    guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw failure(action)
    }
  }

  /// Runs `body` in a write transaction; rolls back if it throws.
  /// - Parameter isRecorded: whether the recorder, if any, takes its changes.
  package mutating func transaction<Result>(
    to action: String, isRecorded: Bool = true,
    _ body: (inout Database) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    try run("BEGIN IMMEDIATE", to: action)
    do {
      let result: Result
      if isRecorded, let recorder {
        try recorder.admit(&self)
        let changes: [UInt8]
        (result, changes) = try self.changes(in: recorder.tables, of: body, to: action)
        if !changes.isEmpty || isFlushing { try recorder.append(changes, isFlushing, &self) }
      } else {
        result = try body(&self)
      }
      try run("COMMIT", to: action)
      return result
    } catch {
      // SQLite rolls back by itself after some failures.
      _ = try? run("ROLLBACK", to: action)
      throw error
    }
  }

  /// Throws if the recorder, if any, admits no use of the database any more.
  package mutating func checkAdmission() throws(SpoolError) { try recorder?.admit(&self) }

  /// As `transaction`, but durable only with the next flushed transaction; a power cut before that
  /// undoes it.
  package mutating func transactionWithoutFlush<Result>(
    to action: String, _ body: (inout Database) throws(SpoolError) -> Result
  ) throws(SpoolError) -> Result {
    let wasFlushing = isFlushing
    try deferFlushes(to: action)
    // If this fails, the next flushed transaction retries it.
    defer { if wasFlushing { try? flushCommits(to: action) } }
    return try transaction(to: action, body)
  }

  /// From now on commits are visible at once, but durable only with the next flushed one. A power
  /// cut loses the last ones only, in order.
  package mutating func deferFlushes(to action: String) throws(SpoolError) {
    guard isFlushing else { return }
    // Not through the cache: SQLite obeys this one while preparing it.
    try script("PRAGMA synchronous = NORMAL", to: action)
    isFlushing = false
  }

  /// From now on every commit is durable on return.
  package mutating func flushCommits(to action: String) throws(SpoolError) {
    guard !isFlushing else { return }
    try script("PRAGMA synchronous = FULL", to: action)
    isFlushing = true
  }

  private mutating func prepared(
    _ sql: String, to action: String
  ) throws(SpoolError) -> OpaquePointer {
    if let statement = unsafe statements[sql] { return unsafe statement }
    var statement: OpaquePointer?
    guard
      unsafe sqlite3_prepare_v3(
        handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
      let statement = unsafe statement
    else { throw failure(action) }
    unsafe statements[sql] = statement
    return unsafe statement
  }

  private static func bind(
    _ value: SQLValue, to statement: OpaquePointer, at index: CInt
  ) -> CInt {
    switch value {
    case .null: return unsafe sqlite3_bind_null(statement, index)
    case .integer(let integer): return unsafe sqlite3_bind_int64(statement, index, integer)
    case .real(let real): return unsafe sqlite3_bind_double(statement, index, real)
    case .text(let text):
      // SQLITE_TRANSIENT, a cast that is not imported: SQLite takes a copy.
      let copy = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      return unsafe sqlite3_bind_text(statement, index, text, CInt(text.utf8.count), copy)
    }
  }

  private static func row(of statement: OpaquePointer) -> SQLRow {
    unsafe (0..<sqlite3_column_count(statement)).map { column in
      switch unsafe sqlite3_column_type(statement, column) {
      case SQLITE_INTEGER: .integer(unsafe sqlite3_column_int64(statement, column))
      case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(statement, column))
      case SQLITE_TEXT: .text(unsafe text(of: statement, column))
      default: .null
      }
    }
  }

  /// With its zero bytes, if it has some.
  private static func text(of statement: OpaquePointer, _ column: CInt) -> String {
    let start = unsafe sqlite3_column_text(statement, column)
    let count = Int(unsafe sqlite3_column_bytes(statement, column))
    return unsafe String(
      decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  private static func open(
    _ path: String, _ access: Access, _ patience: CInt, _ advice: Advice
  ) throws(SpoolError) -> OpaquePointer {
    let (name, flags): (String, CInt) =
      switch access {
      case .writing: (path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      case .reading: (path, SQLITE_OPEN_READONLY)
      case .frozen: (frozenName(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
      case .scratch: (path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY)
      }
    var opened: OpaquePointer?
    // SQLite gives a handle on failure too; it holds the reason.
    var status = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, fileSystem)
    guard let handle = unsafe opened else {
      throw SpoolError("open", path, reason: "out of memory")
    }
    if status == SQLITE_OK {
      unsafe sqlite3_busy_timeout(handle, patience)
      unsafe sqlite3_forbid_double_quoted_strings(handle)
      if access == .writing { unsafe reserveChecksums(in: handle) }
      status = unsafe configure(handle, access, patience)
    }
    guard status == SQLITE_OK else {
      let failure = unsafe failure("open", path, handle, advice)
      unsafe sqlite3_close(handle)
      throw failure
    }
    return unsafe handle
  }

  /// The URI of a file that SQLite treats as immutable.
  private static func frozenName(_ path: String) -> String {
    let escaped = path.replacing(scalar: "%", with: "%25").replacing(scalar: "?", with: "%3f")
      .replacing(scalar: "#", with: "%23")
    return "file:\(escaped)?immutable=1"
  }

  private static func configure(
    _ handle: OpaquePointer, _ access: Access, _ patience: CInt
  ) -> CInt {
    // Reading the schema's version makes SQLite open the file.
    let settings =
      switch access {
      case .writing:
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"
      case .reading, .frozen, .scratch: "PRAGMA foreign_keys = ON; PRAGMA schema_version"
      }
    // SQLite does not wait where a new database turns to WAL: two processes that make one store at
    // once would collide.
    let deadline = ContinuousClock.now + .milliseconds(Int(patience))
    while true {
      let status = unsafe sqlite3_exec(handle, settings, nil, nil, nil)
      if status != SQLITE_BUSY || ContinuousClock.now > deadline { return status }
      usleep(2000)
    }
  }

  package func failure(_ action: String) -> SpoolError {
    unsafe Self.failure(action, path, handle, advice)
  }

  /// Copies a consistent snapshot of the database into a new file, unflushed. Other connections may
  /// read and write.
  package func copy(to target: String) throws(SpoolError) {
    let action = "copy the database to"
    var opened: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let status = unsafe sqlite3_open_v2(target, &opened, flags, Self.fileSystem)
    defer { unsafe sqlite3_close(opened) }
    guard status == SQLITE_OK, let other = unsafe opened else {
      throw unsafe Self.failure(action, target, opened, status)
    }
    // A partial copy is useless: no journal, one flush of the whole at the end.
    unsafe sqlite3_exec(other, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", nil, nil, nil)
    if hasPageChecksums { try unsafe expectChecksums(in: other, target, action) }
    guard let backup = unsafe sqlite3_backup_init(other, "main", handle, "main") else {
      throw unsafe Self.failure(action, target, other, sqlite3_errcode(other))
    }
    unsafe sqlite3_backup_step(backup, -1)
    let result = unsafe sqlite3_backup_finish(backup)
    if result == Self.damagedPage { throw Self.damage(in: path, advice) }
    guard result == SQLITE_OK else { throw unsafe Self.failure(action, target, other, result) }
  }

  private static func failure(
    _ action: String, _ path: String, _ handle: OpaquePointer?, _ status: CInt
  ) -> SpoolError {
    let words = unsafe handle.map { unsafe String(cString: sqlite3_errmsg($0)) }
    let general = unsafe String(cString: sqlite3_errstr(status))
    let system = SystemError(unsafe handle.map { unsafe sqlite3_system_errno($0) } ?? 0)
    return SpoolError(
      action, path, reason: words == "not an error" ? general : words ?? general,
      advice: "check the room and the permissions there",
      cause: status & 0xFF == SQLITE_FULL || system.isFullDisk ? .fullDisk : .environment)
  }
}

/// A value as SQLite stores it. Texts are equal if their bytes are.
package enum SQLValue: Sendable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)

  package init(_ text: String?) { self = text.map(SQLValue.text) ?? .null }

  package init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }

  package var text: String? { if case .text(let text) = self { text } else { nil } }

  package var real: Double? { if case .real(let real) = self { real } else { nil } }

  package var integer: Int64? { if case .integer(let integer) = self { integer } else { nil } }
}

extension SQLValue: Hashable {
  package static func == (one: SQLValue, other: SQLValue) -> Bool {
    switch (one, other) {
    case (.null, .null): true
    case (.integer(let one), .integer(let other)): one == other
    case (.real(let one), .real(let other)): one == other
    case (.text(let one), .text(let other)): one.utf8.elementsEqual(other.utf8)
    default: false
    }
  }

  package func hash(into hasher: inout Hasher) {
    switch self {
    case .null: break
    case .integer(let integer): hasher.combine(integer)
    case .real(let real): hasher.combine(real)
    case .text(let text): for byte in text.utf8 { hasher.combine(byte) }
    }
  }
}

/// A result row: its columns from left to right.
package typealias SQLRow = [SQLValue]
