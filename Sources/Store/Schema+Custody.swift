extension Schema {
  /// On which mounted disks the folders of watches lay; which notes nobody wants any more; and which
  /// commands were decided after their senders had been told that they wait.
  static let places = """
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
    """

  /// What the last watch of each inbox was begun with, and which commands still lie in an inbox though
  /// they were decided.
  static let watches = """
    CREATE TABLE watches (
      inbox TEXT PRIMARY KEY,
      command TEXT NOT NULL,
      began_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    ALTER TABLE note_commands ADD COLUMN left_file TEXT;
    CREATE INDEX note_commands_left ON note_commands (left_file) WHERE left_file IS NOT NULL;
    """
}
