extension Schema {
  /// The leaves of the tree of receipts, to which rows are only added.
  static let receipts = """
    CREATE TABLE receipts (
      position INTEGER PRIMARY KEY,
      leaf TEXT NOT NULL UNIQUE,
      path TEXT NOT NULL
    ) STRICT;
    """

  /// The signed head over them, and how much of the list the log beside the database has.
  static let receiptHead = """
    CREATE TABLE receipt_head (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      size INTEGER NOT NULL,
      root TEXT NOT NULL,
      text TEXT NOT NULL
    ) STRICT;
    CREATE TABLE receipt_log (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      lines INTEGER NOT NULL,
      byte_count INTEGER NOT NULL
    ) STRICT;
    INSERT INTO receipt_log VALUES (1, 0, 0);
    """
}
