-- The results of stages, what they put out, and runs.
CREATE TABLE checkpoints (
  key TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  hint TEXT,
  components TEXT NOT NULL,
  memo TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX checkpoints_by_hint ON checkpoints (kind, hint);
CREATE TABLE outputs (
  key TEXT NOT NULL REFERENCES checkpoints (key) ON DELETE CASCADE,
  port TEXT NOT NULL,
  kind TEXT NOT NULL,
  identity TEXT NOT NULL,
  artifact TEXT,
  byte_count INTEGER,
  PRIMARY KEY (key, port),
  CHECK ((artifact IS NULL) = (byte_count IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX outputs_by_artifact ON outputs (artifact) WHERE artifact IS NOT NULL;
CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  started_at REAL NOT NULL,
  state TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_start ON runs (started_at);
