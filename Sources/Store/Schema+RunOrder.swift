extension Schema {
  /// The order in which runs were recorded. Those of before all have the number 0: among them their
  /// times tell, as they did.
  static let runOrder = """
    ALTER TABLE runs ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
    DROP INDEX runs_by_start;
    CREATE INDEX runs_by_number ON runs (number, started_at);
    """
}
