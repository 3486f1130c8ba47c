extension Schema {
  /// Which store a database is of, so that no other one's copy is taken for its own; and what work has
  /// cost so far, so that what is lost with it can be told.
  static let identity = """
    CREATE TABLE identity (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      store TEXT NOT NULL
    ) STRICT;
    INSERT INTO identity VALUES (1, lower(hex(randomblob(16))));
    ALTER TABLE work ADD COLUMN spent_seconds REAL;
    """
}
