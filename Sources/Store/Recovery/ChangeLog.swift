import Glibc
import PipelineModel
import Platform

/// The append-only log of the database: every transaction writes its changed rows to it right
/// before its commit. A lost database is rebuilt from it completely.
///
/// A file `changes-N` is a line that names the format, and records. It begins with all rows of its
/// time; when it has grown too long, the next file replaces it. The database knows the log's length:
/// if the log is longer, the database lost transactions, and their records restore them.
struct ChangeLog: Sendable {
  let layout: StoreLayout
  let drafts: DraftFolder
  let files: FileOperations

  var old: OldRecords { OldRecords(layout: layout, files: files) }

  /// The tables in the log, parents before children: all but caches, claims of living processes, the
  /// list of receipts, which has signed files of its own, and the database's account of the log.
  static let tables = [
    "identity", "checkpoints", "outputs", "struck", "runs", "pins", "published", "batch_files",
    "batch_exports", "batch_artifacts", "notes", "note_events", "note_files", "note_commands",
    "retracted", "awaited_stamps", "watches", "mounts", "word_corrections",
    "destinations", "deliveries", "delivery_owners",
  ]

  /// The database's record of the log.
  struct State: Hashable, Sendable {
    /// The number of the log file; 0 before the first.
    var generation: Int64 = 0
    /// The bytes known to the database.
    var byteCount: Int64 = 0
    /// The bytes at its start that hold all rows of its time.
    var firstByteCount: Int64 = 0
    /// The number of the last transaction.
    var number: Int64 = 0
  }

  /// A log up to this length is never replaced.
  private static let smallByteCount: Int64 = 4 << 20
  static let action = "write the change log of"
  private static let namePrefix = "changes-"

  func path(_ generation: Int64) -> String { "\(layout.root)/\(Self.namePrefix)\(generation)" }

  /// Writes the changes of every transaction of a database, and admits none once a newer Spool has
  /// migrated it: this process does not know what its tables mean then.
  /// - Parameter schema: the newest that this process knows.
  func recorder(knowing schema: Schema) -> ChangeRecorder {
    ChangeRecorder(
      tables: Self.tables,
      admit: { (database) throws(SpoolError) in
        _ = try schema.version(of: &database, layout.database)
      }
    ) { (changes, isDurable, database) throws(SpoolError) in
      try append(changes, isDurable: isDurable, in: &database)
    }
  }

  /// Appends a transaction's changes, if any, right before its commit: flushed, unless a power cut
  /// may take the transaction too.
  private func append(
    _ changes: [UInt8], isDurable: Bool, in database: inout Database
  ) throws(SpoolError) {
    var state = try Self.state(in: &database)
    let path = path(state.generation)
    let isUsable = state.generation > 0 && byteCount(state.generation) ?? 0 >= state.byteCount
    if changes.isEmpty {
      // The commit makes earlier ones durable that were not flushed.
      return isUsable ? try write([], to: path, at: state.byteCount, isDurable: isDurable) : ()
    }
    // The file before the last is of no use once a commit has named the last one.
    if isUsable, state.byteCount == state.firstByteCount { sweep(in: &database) }
    state.number = try WorkTable.nextNumber(in: &database, to: Self.action)
    let isLong = state.byteCount > max(Self.smallByteCount, 3 * state.firstByteCount)
    if !isUsable || isLong {
      var next = state
      do throws(SpoolError) {
        try begin(&next, in: &database)
        return try Self.record(next, in: &database)
      } catch {
        // What is to be freed needs less room than all rows.
        guard isUsable, error.isFullDisk else { throw error }
      }
    }
    let record = ChangeRecord(number: state.number, changes: changes).bytes
    try write(record, to: path, at: state.byteCount, isDurable: isDurable)
    state.byteCount += Int64(record.count)
    try Self.record(state, in: &database)
  }

  /// Bytes beyond the known length were never committed and are overwritten.
  private func write(
    _ record: [UInt8], to path: String, at length: Int64, isDurable: Bool
  ) throws(SpoolError) {
    try doing("write the change log", path) { () throws(SystemError) in
      let file = try files.open(path, O_WRONLY | O_APPEND | O_NOFOLLOW)
      if !record.isEmpty {
        if try file.stamp.byteCount > length { try files.truncate(file, to: Int(length)) }
        try files.write(record, to: file)
      }
      if isDurable { try files.flush(file) }
    }
  }

  /// Starts the next log file, inside a transaction, with all rows, behind all files that are there.
  /// It belongs to the database's owner, also when root runs this process. O(size of the database).
  func begin(_ state: inout State, in database: inout Database) throws(SpoolError) {
    state.generation = max(state.generation, generations.last ?? 0) + 1
    let target = path(state.generation)
    let draft = try drafts.makeFile()
    do throws(SpoolError) {
      state.byteCount = try writeAll(state.number, to: draft, in: &database)
      try doing("write the change log", target) { () throws(SystemError) in
        let isThere = (try? FileStamp(following: layout.database)) != nil
        let model = try FileStamp(following: isThere ? layout.database : layout.root)
        try files.setMode(model.permissions & 0o666, of: draft)
        try files.setOwner(of: draft, like: model)
        try files.flush(draft)
        try files.rename(draft.path, toNew: target)
        try files.flushFolder(layout.root)
      }
    } catch {
      try? files.unlink(draft.path)
      throw error
    }
    state.firstByteCount = state.byteCount
  }

  /// Writes all rows, table by table, in records of limited size.
  /// - Returns: the length in bytes.
  private func writeAll(
    _ number: Int64, to draft: borrowing OpenFile, in database: inout Database
  ) throws(SpoolError) -> Int64 {
    var byteCount: Int64 = 0
    func write(_ bytes: [UInt8]) throws(SpoolError) {
      try doing("write the change log", draft.path) { () throws(SystemError) in
        try files.write(bytes, to: draft)
      }
      byteCount += Int64(bytes.count)
    }
    try write(Array(ChangeRecord.head.utf8))
    for table in Self.tables {
      let columns = try TableColumns(of: table, in: &database)
      try columns.forEachPortion(in: &database) { (rows) throws(SpoolError) in
        var insertions = RowInsertions(into: table, keyOrder: columns.keyOrder)
        for row in rows { insertions.append(row) }
        try write(ChangeRecord(number: number, changes: insertions.bytes).bytes)
      }
    }
    // An empty record ends the rows of the beginning.
    try write(ChangeRecord(number: number, changes: []).bytes)
    return byteCount
  }

  /// Replaces a log that is damaged, lacks rows or has what is to be forgotten by one with all rows of
  /// the database.
  /// - Parameter change: a change of the database in the same transaction.
  func renew(
    in database: inout Database,
    behind change: (inout Database) throws(SpoolError) -> Void = { _ throws(SpoolError) in }
  ) throws(SpoolError) {
    try database.transaction(to: Self.action, isRecorded: false) { (database) throws(SpoolError) in
      try change(&database)
      var state = try Self.state(in: &database)
      state.number = try WorkTable.nextNumber(in: &database, to: Self.action)
      try begin(&state, in: &database)
      try Self.record(state, in: &database)
    }
    sweep(in: &database)
  }

  /// Whether the database is new enough to have a log.
  static func isThere(in database: inout Database) throws(SpoolError) -> Bool {
    try !database.run(
      "SELECT 1 FROM pragma_table_info('checkpoints') WHERE name = 'recorded_at'",
      to: "read"
    ).isEmpty
  }

  static func state(in database: inout Database) throws(SpoolError) -> State {
    let row = try database.run(
      "SELECT generation, byte_count, first_byte_count, number FROM ledger", to: "read"
    ).first?.map { $0.integer ?? 0 }
    guard let row else { return State() }
    return State(
      generation: row[0], byteCount: row[1], firstByteCount: row[2], number: row[3])
  }

  static func record(_ state: State, in database: inout Database) throws(SpoolError) {
    try database.run(
      "UPDATE ledger SET generation = ?, byte_count = ?, first_byte_count = ?, number = ?",
      [
        .integer(state.generation), .integer(state.byteCount),
        .integer(state.firstByteCount), .integer(state.number),
      ], to: action)
  }

  /// The numbers of the existing files, ascending.
  var generations: [Int64] {
    FilePath.names(in: layout.root).compactMap { name in
      name.hasPrefix(Self.namePrefix) ? Int64(name.dropFirst(Self.namePrefix.count)) : nil
    }.sorted()
  }

  var isEmpty: Bool { generations.isEmpty }

  /// Removes replaced log files; sets aside one with damage, which a person may read. Never fails.
  func sweep(in database: inout Database) {
    guard let state = try? Self.state(in: &database) else { return }
    for generation in generations where generation < state.generation {
      let path = path(generation)
      if !isIntact(generation) {
        try? files.makeFolders(layout.damaged)
        try? files.rename(path, to: "\(layout.damaged)/\(Self.namePrefix)\(generation)")
      } else {
        try? files.unlink(path)
      }
    }
  }

  /// Begins the next file if this one is shorter than the database knows, or is damaged. Ignores
  /// failures; the next opening tries again.
  /// - Parameter isSuspect: whether to read all of it.
  /// - Returns: whether there was damage, and the next file is there.
  @discardableResult
  func mend(in database: inout Database, isSuspect: Bool) -> Bool {
    guard let state = try? Self.state(in: &database), state.generation > 0 else { return false }
    let length = byteCount(state.generation) ?? 0
    let isGood =
      isSuspect
      ? isIntact(state.generation, upTo: state.byteCount) : length >= state.byteCount
    return !isGood && (try? renew(in: &database)) != nil
  }

  /// Whether a file is what was written, up to a length; nil for its own.
  func isIntact(_ generation: Int64, upTo length: Int64? = nil) -> Bool {
    let reading = try? read(generation, upTo: length ?? .max) { _ in }
    return reading?.skipped == 0 && reading?.end == length ?? byteCount(generation)
  }

  /// The length of a file; nil if there is none.
  func byteCount(_ generation: Int64) -> Int64? {
    (try? FileStamp(at: path(generation)))?.byteCount
  }
}
