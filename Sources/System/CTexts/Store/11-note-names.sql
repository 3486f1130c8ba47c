-- Devices' names for recordings, verbatim, and acknowledgements to be removed.
ALTER TABLE notes ADD COLUMN device_name TEXT;
ALTER TABLE note_files ADD COLUMN device_name TEXT;
CREATE TABLE retracted (
  pipeline TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (pipeline, name)
) STRICT, WITHOUT ROWID;
