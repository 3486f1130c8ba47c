-- Work that one process at a time does.
-- The counter starts at the time: after a lost database, no old folder is taken for a new one.
CREATE TABLE epochs (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last INTEGER NOT NULL
) STRICT;
INSERT INTO epochs VALUES (1, CAST(strftime('%s', 'now') AS INTEGER));
CREATE TABLE work (
  work TEXT PRIMARY KEY,
  generation INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  owner TEXT,
  summary TEXT NOT NULL,
  claimed_at REAL NOT NULL,
  note TEXT,
  noted_at REAL,
  CHECK ((note IS NULL) = (noted_at IS NULL))
) STRICT, WITHOUT ROWID;
