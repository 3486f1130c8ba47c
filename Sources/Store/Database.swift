internal import CSQLite
import Glibc
internal import PipelineModel

/// One connection to an SQLite database that keeps its word: WAL, every commit flushed, foreign
/// keys enforced. Statements are prepared once and kept.
@safe struct Database: ~Copyable {
  let handle: OpaquePointer
  private var statements: [String: OpaquePointer]
  /// Whether a commit is on the disk when it returns.
  private var isFlushing = true
  let path: String

  /// What may be done with a database.
  enum Access: Sendable {
    /// Everything; it is made if there is none.
    case writing
    /// Reading it while others may write.
    case reading
    /// Reading a file that nobody writes, whatever folder it lies in. A write-ahead log beside it
    /// is not looked at.
    case frozen
    /// A database of no file, to try something out: nothing of it counts as a change of the store.
    case scratch
  }

  /// Opens the database at `path`.
  /// - Parameter patience: how long to wait for another process, in milliseconds.
  init(at path: String, for access: Access = .writing, patience: CInt = 10_000) throws(StoreError) {
    unsafe handle = try Self.open(path, access, patience)
    if access != .scratch { unsafe CrashPoint.chosen?.watchCommits(of: handle) }
    unsafe statements = [:]
    self.path = path
  }

  deinit {
    unsafe statements.values.forEach { unsafe sqlite3_finalize($0) }
    unsafe sqlite3_close(handle)
  }

  /// Runs one statement. - Returns: all of its rows.
  /// - Parameter action: what it is for, in words that a path may follow.
  @discardableResult
  mutating func run(
    _ sql: String, _ values: [SQLValue] = [], to action: String
  ) throws(StoreError) -> [SQLRow] {
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

  /// Runs statements that give no rows and are needed once.
  func script(_ sql: String, to action: String) throws(StoreError) {
    guard unsafe sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else {
      throw failure(action)
    }
  }

  /// Does all of `body` or, if it throws, nothing. No other process writes meanwhile.
  mutating func transaction<Result>(
    to action: String, _ body: (inout Database) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try run("BEGIN IMMEDIATE", to: action)
    do {
      let result = try body(&self)
      try run("COMMIT", to: action)
      return result
    } catch {
      // SQLite rolls back by itself after some failures, and then has nothing left to undo.
      _ = try? run("ROLLBACK", to: action)
      throw error
    }
  }

  /// As `transaction`, for what costs little to lose: it is durable with the next transaction that
  /// is, and a power cut before that undoes it.
  mutating func transactionWithoutFlush<Result>(
    to action: String, _ body: (inout Database) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let wasFlushing = isFlushing
    try deferFlushes(to: action)
    // If this failed, it would be flushed the next time it is wanted.
    defer { if wasFlushing { try? flushCommits(to: action) } }
    return try transaction(to: action, body)
  }

  /// From now on a commit counts at once for every process, but it takes the next flushed one to
  /// carry it to the disk: a power cut before that loses the last ones, and never one that came
  /// before a commit that it spares.
  mutating func deferFlushes(to action: String) throws(StoreError) {
    guard isFlushing else { return }
    // Not through a prepared statement: SQLite obeys this one when it is prepared.
    try script("PRAGMA synchronous = NORMAL", to: action)
    isFlushing = false
  }

  /// Makes sure that every commit is on the disk when it returns.
  mutating func flushCommits(to action: String) throws(StoreError) {
    guard !isFlushing else { return }
    try script("PRAGMA synchronous = FULL", to: action)
    isFlushing = true
  }

  private mutating func prepared(
    _ sql: String, to action: String
  ) throws(StoreError) -> OpaquePointer {
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
      case SQLITE_TEXT: .text(unsafe String(cString: sqlite3_column_text(statement, column)))
      default: .null
      }
    }
  }

  private static func open(
    _ path: String, _ access: Access, _ patience: CInt
  ) throws(StoreError) -> OpaquePointer {
    let (name, flags): (String, CInt) =
      switch access {
      case .writing: (path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
      case .reading: (path, SQLITE_OPEN_READONLY)
      case .frozen: (frozenName(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
      case .scratch: (path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY)
      }
    var opened: OpaquePointer?
    // SQLite gives a handle on failure too: it knows the reason.
    var status = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
    guard let handle = unsafe opened else {
      throw StoreError("open", path: path, reason: "out of memory")
    }
    if status == SQLITE_OK {
      unsafe sqlite3_busy_timeout(handle, patience)
      unsafe sqlite3_forbid_double_quoted_strings(handle)
      status = unsafe configure(handle, access, patience)
    }
    guard status == SQLITE_OK else {
      let failure = unsafe failure("open", path, handle)
      unsafe sqlite3_close(handle)
      throw failure
    }
    return unsafe handle
  }

  /// The URI by which SQLite takes a file for one that never changes.
  private static func frozenName(_ path: String) -> String {
    let escaped = path.replacing("%", with: "%25").replacing("?", with: "%3f")
      .replacing("#", with: "%23")
    return "file:\(escaped)?immutable=1"
  }

  private static func configure(
    _ handle: OpaquePointer, _ access: Access, _ patience: CInt
  ) -> CInt {
    // Asking for the schema's version makes SQLite open the file in earnest.
    let settings =
      switch access {
      case .writing:
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"
      case .reading, .frozen, .scratch: "PRAGMA foreign_keys = ON; PRAGMA schema_version"
      }
    // SQLite waits for others everywhere but where a new database turns to WAL: there, two
    // processes that make one store at once would meet.
    let deadline = Clock.now() + Int64(patience) * 1_000_000
    while true {
      let status = unsafe sqlite3_exec(handle, settings, nil, nil, nil)
      if status != SQLITE_BUSY || Clock.now() > deadline { return status }
      usleep(2000)
    }
  }

  func failure(_ action: String) -> StoreError {
    unsafe Self.failure(action, path, handle)
  }
}
