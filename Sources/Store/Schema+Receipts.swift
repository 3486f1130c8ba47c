extension Schema {
  /// The leaves of the tree of receipts, to which rows are only added.
  static let receipts = """
    CREATE TABLE receipts (
      position INTEGER PRIMARY KEY,
      leaf TEXT NOT NULL UNIQUE,
      path TEXT NOT NULL
    ) STRICT;
    """
}
