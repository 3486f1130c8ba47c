-- The files of batches, and what was exported of each.
CREATE TABLE batch_files (
  batch TEXT NOT NULL,
  path TEXT NOT NULL,
  recording TEXT,
  sidecar TEXT,
  settings TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  media_seconds REAL,
  report TEXT NOT NULL,
  PRIMARY KEY (batch, path)
) STRICT, WITHOUT ROWID;
CREATE TABLE batch_exports (
  batch TEXT NOT NULL,
  path TEXT NOT NULL,
  export TEXT NOT NULL,
  content TEXT NOT NULL,
  PRIMARY KEY (batch, path, export),
  FOREIGN KEY (batch, path) REFERENCES batch_files (batch, path) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
