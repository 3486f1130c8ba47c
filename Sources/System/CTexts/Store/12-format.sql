-- The format once more, out of reach of damage to the header, and the time of the last full check,
-- in nanoseconds since 1970. Also the monotonic time of the last change of work.
-- The application id is `Spol`, for file(1).
CREATE TABLE format (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL,
  looked_through_at INTEGER NOT NULL
) STRICT;
INSERT INTO format VALUES (1, 0, 0);
ALTER TABLE work ADD COLUMN touched_since_boot REAL;
PRAGMA application_id = 1399877484;
