-- Runs that are kept.
CREATE TABLE pins (
  run TEXT PRIMARY KEY,
  pinned_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
