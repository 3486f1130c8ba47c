extension Schema {
  /// How long the ledger is, and which notes and commands it does not have yet as they are.
  static let ledger = """
    CREATE TABLE ledger (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      generation INTEGER NOT NULL,
      byte_count INTEGER NOT NULL,
      first_byte_count INTEGER NOT NULL,
      number INTEGER NOT NULL
    ) STRICT;
    INSERT INTO ledger VALUES (1, 0, 0, 0, 0);
    CREATE TABLE ledger_owed (
      kind TEXT NOT NULL,
      name TEXT NOT NULL,
      PRIMARY KEY (kind, name)
    ) STRICT, WITHOUT ROWID;
    \(triggers("notes", "note", "key"))
    \(triggers("note_files", "note", "note"))
    \(triggers("note_events", "note", "note"))
    \(triggers("note_commands", "command", "pipeline", "id"))
    """

  /// What the ledger owes of a note's history and files, row by row: a recording that comes a thousand
  /// times has thousands of them, and they are not written out anew for every time.
  static let noteParts = """
    \(dropTriggers("note_files"))
    \(dropTriggers("note_events"))
    \(triggers("note_files", "file", "note", "id"))
    \(triggers("note_events", "event", "note", "number"))
    """

  private static func dropTriggers(_ table: String) -> String {
    ["insert", "update", "delete"].map { "DROP TRIGGER \(table)_\($0)_owed;" }
      .joined(separator: "\n")
  }

  /// SQL that notes every change of a table's rows by the columns that name them. Not by INSERT OR
  /// IGNORE: what a statement with a conflict clause of its own sets off goes by that one.
  private static func triggers(_ table: String, _ kind: String, _ columns: String...) -> String {
    [("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")].map { event, row in
      let name = columns.map { "\(row).\($0)" }.joined(separator: " || char(10) || ")
      return """
        CREATE TRIGGER \(table)_\(event.lowercased())_owed AFTER \(event) ON \(table) BEGIN
          INSERT INTO ledger_owed SELECT '\(kind)', \(name)
            WHERE NOT EXISTS (
              SELECT 1 FROM ledger_owed WHERE kind = '\(kind)' AND name = \(name));
        END;
        """
    }.joined(separator: "\n")
  }
}
