-- Recordings, their history, their files, and devices' commands.
CREATE TABLE notes (
  key TEXT PRIMARY KEY,
  pipeline TEXT NOT NULL,
  inbox TEXT NOT NULL,
  file_name TEXT NOT NULL,
  digest TEXT NOT NULL,
  byte_count INTEGER NOT NULL,
  received_at REAL NOT NULL,
  ack_name TEXT NOT NULL,
  device_id TEXT,
  sidecar TEXT,
  sidecar_byte_count INTEGER,
  facts TEXT,
  title TEXT,
  tags TEXT NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  attempts INTEGER NOT NULL,
  next_attempt REAL,
  changed_at REAL NOT NULL,
  state_since REAL NOT NULL,
  accepted_at REAL,
  uploaded_at REAL,
  sound TEXT,
  original TEXT,
  conflict TEXT,
  revision INTEGER NOT NULL,
  acknowledged INTEGER NOT NULL,
  owner TEXT,
  CHECK ((sidecar IS NULL) = (sidecar_byte_count IS NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX notes_by_digest ON notes (digest, pipeline);
CREATE INDEX notes_by_sidecar ON notes (sidecar) WHERE sidecar IS NOT NULL;
CREATE INDEX notes_by_device_id ON notes (device_id) WHERE device_id IS NOT NULL;
CREATE INDEX notes_by_sound ON notes (sound, pipeline) WHERE sound IS NOT NULL;
CREATE INDEX notes_by_original ON notes (original) WHERE original IS NOT NULL;
CREATE INDEX notes_by_change ON notes (changed_at);
CREATE INDEX notes_by_state ON notes (state, changed_at);
CREATE INDEX notes_standing ON notes (pipeline, state, state_since);
CREATE INDEX notes_received ON notes (pipeline, received_at) WHERE state = 'received';
CREATE INDEX notes_retried ON notes (pipeline, next_attempt) WHERE next_attempt IS NOT NULL;
CREATE INDEX notes_unacknowledged ON notes (pipeline, changed_at)
  WHERE acknowledged < revision;
CREATE TABLE note_events (
  note TEXT NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  at REAL NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  PRIMARY KEY (note, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE note_files (
  id INTEGER PRIMARY KEY,
  note TEXT NOT NULL REFERENCES notes (key) ON DELETE CASCADE,
  inbox TEXT NOT NULL,
  role TEXT NOT NULL,
  path TEXT NOT NULL,
  location TEXT NOT NULL,
  inode INTEGER NOT NULL,
  byte_count INTEGER NOT NULL,
  modified_ns INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  place TEXT NOT NULL,
  target TEXT,
  device_id TEXT
) STRICT;
CREATE INDEX note_files_by_path ON note_files (inbox, path);
CREATE INDEX note_files_by_location ON note_files (inbox, location);
CREATE INDEX note_files_by_note ON note_files (note);
CREATE INDEX note_files_held ON note_files (inbox, place)
  WHERE place IN ('inbox', 'quarantine');
CREATE INDEX note_files_by_device_id ON note_files (device_id) WHERE device_id IS NOT NULL;
CREATE TABLE note_commands (
  pipeline TEXT NOT NULL,
  id TEXT NOT NULL,
  device_note TEXT NOT NULL,
  note TEXT,
  subject TEXT NOT NULL,
  request TEXT NOT NULL,
  issued_at REAL NOT NULL,
  taken_at REAL NOT NULL,
  status TEXT NOT NULL,
  reason TEXT,
  answered INTEGER NOT NULL,
  PRIMARY KEY (pipeline, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_commands_by_note ON note_commands (note, subject, issued_at);
CREATE INDEX note_commands_waiting ON note_commands (pipeline, device_note)
  WHERE status = 'waiting';
CREATE INDEX note_commands_unanswered ON note_commands (pipeline, taken_at)
  WHERE answered = 0;
CREATE TABLE note_version (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  number INTEGER NOT NULL
) STRICT;
INSERT INTO note_version VALUES (1, 0);
