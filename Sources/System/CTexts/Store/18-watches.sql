-- The command of each inbox's last watch, and decided commands whose files are still in an inbox.
CREATE TABLE watches (
  inbox TEXT PRIMARY KEY,
  command TEXT NOT NULL,
  began_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
ALTER TABLE note_commands ADD COLUMN left_file TEXT;
CREATE INDEX note_commands_left ON note_commands (left_file) WHERE left_file IS NOT NULL;
