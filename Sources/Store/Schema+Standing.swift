internal import PipelineModel

/// Telling a database of this Spool's from one that a newer Spool wrote, and both from a damaged one.
///
/// SQLite vouches for nothing in the first hundred bytes of a file, and its checks pass over most of
/// them. So the format is told three times (in the header, by the tables themselves, and in a row of
/// its own), and they have to agree.
extension Schema {
  /// What an open database is.
  enum Standing: Hashable, Sendable {
    /// Nothing was ever put into it.
    case blank
    /// It went through so many steps.
    case ours(version: Int)
    /// A newer Spool wrote it.
    case newer(version: Int)
    /// What it says of itself cannot be true; in words.
    case damaged(String)
  }

  /// `Spol`: by this number file(1) can tell a store's database.
  private static let applicationID: Int64 = 0x5370_6F6C

  /// The format once more, where no damage to the header can reach it, and when all of the database
  /// was last looked through, in nanoseconds since 1970. Also when work was last touched, by a clock that
  /// nobody sets.
  static let format = """
    CREATE TABLE format (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      version INTEGER NOT NULL,
      looked_through_at INTEGER NOT NULL
    ) STRICT;
    INSERT INTO format VALUES (1, 0, 0);
    ALTER TABLE work ADD COLUMN touched_since_boot REAL;
    PRAGMA application_id = \(applicationID);
    """

  /// Looks what a database is. Throws what says nothing of the database itself.
  func standing(of database: inout Database) throws(StoreError) -> Standing {
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
      // One bit flips by itself. A number that differs in several was written, and may be meant.
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
    return .ours(version: Int(version))
  }

  /// What is said of a database that a newer Spool wrote.
  func newer(_ version: Int, _ path: String) -> StoreError {
    StoreError(
      "open", path: path,
      reason: "a newer Spool wrote it (format \(version); this one knows up to \(steps.count))",
      advice: "install the newer Spool, or use another store with --store")
  }

  /// Whether a database is new enough to hold its format in a row.
  static func hasFormat(_ database: inout Database) throws(StoreError) -> Bool {
    try !database.run("SELECT 1 FROM sqlite_schema WHERE name = 'format'", to: "read").isEmpty
  }

  private static func number(
    _ sql: String, in database: inout Database
  ) throws(StoreError) -> Int64? {
    try database.run(sql, to: "open").first?.first?.integer
  }

  private static func bitDistance(_ one: Int64, _ other: Int64) -> Int {
    (UInt32(truncatingIfNeeded: one) ^ UInt32(truncatingIfNeeded: other)).nonzeroBitCount
  }
}
