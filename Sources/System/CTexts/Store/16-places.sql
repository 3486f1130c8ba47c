-- Mount points of watched folders; cancelled recordings; commands decided after their senders heard
-- that they wait.
CREATE TABLE mounts (
  folder TEXT PRIMARY KEY,
  mount_point TEXT NOT NULL,
  seen_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE notes ADD COLUMN is_cancelled INTEGER NOT NULL DEFAULT 0;
UPDATE notes SET is_cancelled = 1 WHERE state = 'failed' AND next_attempt IS NULL
  AND reason IN ('cancelled', 'cancelled by a device');
CREATE INDEX notes_cancelled ON notes (pipeline, state_since) WHERE is_cancelled = 1;
ALTER TABLE note_commands ADD COLUMN is_decided_late INTEGER NOT NULL DEFAULT 0;
