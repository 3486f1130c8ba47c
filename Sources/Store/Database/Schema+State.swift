internal import PipelineModel
import Platform

/// Tells this format from a newer one, and both from a damaged database.
///
/// SQLite does not verify the first hundred bytes of a file. So the format is stored three times
/// (header, tables, a row of its own), and all must agree.
extension Schema {
  /// The state of an open database.
  enum State: Hashable, Sendable {
    case blank
    /// It is at this step.
    case ours(version: Int)
    case newer(version: Int)
    /// Contradictory; in words.
    case damaged(String)
  }

  /// `Spol`, the application id for file(1), which the step `format` sets.
  private static let applicationID: Int64 = 0x5370_6F6C

  /// Determines the state. Throws errors that say nothing of the database itself.
  func status(of database: inout Database) throws(SpoolError) -> State {
    let shape = try SchemaShape(of: &database)
    let version = try Self.number("PRAGMA user_version", in: &database) ?? 0
    if shape.isEmpty { return version == 0 ? .blank : .damaged(DatabaseLoss.empty) }
    let hasFormat = try Self.hasFormat(&database)
    let format = hasFormat ? try Self.number("SELECT version FROM format", in: &database) : nil
    let built = try shapes.get().lastIndex(of: shape).map { Int64($0 + 1) }
    if version > steps.count, version == format ?? version, built == nil || format != nil {
      return .newer(version: Int(version))
    }
    guard let built else {
      return .damaged("its tables are not those of a store of format \(version)")
    }
    if version != built {
      // Bit rot flips one bit; a number that differs in several was written.
      let isPlausible = version > steps.count && Self.bitDistance(version, built) > 1
      if isPlausible { return .newer(version: Int(version)) }
      return .damaged("its header says format \(version), and its tables are those of \(built)")
    }
    if hasFormat, format != version {
      return .damaged("it says format \(format.map { "\($0)" } ?? "none") and \(version)")
    }
    let application = try Self.number("PRAGMA application_id", in: &database) ?? 0
    if hasFormat, application != Self.applicationID {
      return .damaged("its header does not say that it is a store's")
    }
    if try Self.isRecordedSealed(&database) == true, !database.hasPageChecksums {
      return .damaged("its header says that its pages have no checksums, and they have")
    }
    for table in try Self.oneRowTables(in: &database)
    where try Self.number("SELECT count(*) FROM \(table)", in: &database) != 1 {
      return .damaged("its table \(table) has lost its only row")
    }
    return .ours(version: Int(version))
  }

  /// The tables that hold exactly one row, of those that a database has. Their updates assume the row.
  private static func oneRowTables(in database: inout Database) throws(SpoolError) -> [String] {
    try database.run(
      """
      SELECT name FROM sqlite_schema
      WHERE type = 'table' AND name IN ('epochs', 'identity', 'ledger', 'note_version', 'receipt_log')
      """, to: "open"
    ).compactMap { $0[0].text }
  }

  func newer(_ version: Int, _ path: String) -> SpoolError {
    SpoolError(
      "a newer Spool has upgraded the store at \(FilePath.folder(of: path))",
      reason: "\(path) has format \(version), and this program knows up to \(steps.count)",
      advice: "restart this service or command, which then runs the newer Spool; where that is not "
        + "there, install the newer Spool, or use another store with \(option: .store)",
      cause: .blocked, kind: .newer)
  }

  /// Whether a database is new enough to hold its format in a row.
  static func hasFormat(_ database: inout Database) throws(SpoolError) -> Bool {
    try !database.run("SELECT 1 FROM sqlite_schema WHERE name = 'format'", to: "read").isEmpty
  }

  private static func number(
    _ sql: String, in database: inout Database
  ) throws(SpoolError) -> Int64? {
    try database.run(sql, to: "open").first?.first?.integer
  }

  private static func bitDistance(_ one: Int64, _ other: Int64) -> Int {
    (UInt32(truncatingIfNeeded: one) ^ UInt32(truncatingIfNeeded: other)).nonzeroBitCount
  }
}

/// The structure of a database: tables with columns, types, defaults, keys and references; indices and
/// triggers as they were written. The SQL of tables does not count: versions of SQLite differ in how
/// they add a column to it.
struct SchemaShape: Hashable, Sendable {
  private let parts: Set<String>

  var isEmpty: Bool { parts.isEmpty }

  /// The shape of an open database, without SQLite's own tables.
  init(of database: inout Database) throws(SpoolError) {
    let rows = try database.run(
      """
      SELECT s.type || ' ' || s.name || ' ' || s.tbl_name || ' '
        || CASE s.type WHEN 'table' THEN coalesce((
          SELECT group_concat(c.name || ' ' || c.type || ' ' || c."notnull" || ' '
            || coalesce(c.dflt_value, '') || ' ' || c.pk)
          FROM pragma_table_info(s.name) AS c), '') || ' ' || coalesce((
          SELECT group_concat(k."table" || ' ' || k."from" || ' ' || k."to" || ' ' || k.on_delete)
          FROM pragma_foreign_key_list(s.name) AS k), '')
        ELSE coalesce(s.sql, '') END
      FROM sqlite_schema AS s WHERE s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      """, to: "read the tables of")
    parts = Set(rows.compactMap { $0.first?.text })
  }

  /// The shape after each step, built in memory.
  static func all(of steps: [String]) throws(SpoolError) -> [SchemaShape] {
    var scratch = try Database(at: ":memory:", for: .scratch)
    var shapes: [SchemaShape] = []
    for step in steps {
      try scratch.script(step, to: "make")
      shapes.append(try SchemaShape(of: &scratch))
    }
    return shapes
  }
}
