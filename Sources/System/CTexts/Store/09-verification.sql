-- Artifacts that were verified, and the outputs that are struck out.
-- Earlier rows of batches name no artifacts; they are looked up again.
CREATE TABLE verified (
  artifact TEXT PRIMARY KEY,
  inode INTEGER NOT NULL,
  byte_count INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  verified_at REAL NOT NULL,
  moment INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX verified_by_inode ON verified (inode);
ALTER TABLE checkpoints ADD COLUMN moment INTEGER;
CREATE TABLE struck (
  key TEXT NOT NULL,
  port TEXT NOT NULL,
  artifact TEXT NOT NULL,
  is_suspect INTEGER NOT NULL,
  PRIMARY KEY (key, port)
) STRICT, WITHOUT ROWID;
DELETE FROM batch_files;
CREATE TABLE batch_artifacts (
  batch TEXT NOT NULL,
  path TEXT NOT NULL,
  artifact TEXT NOT NULL,
  PRIMARY KEY (batch, path, artifact),
  FOREIGN KEY (batch, path) REFERENCES batch_files (batch, path) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
