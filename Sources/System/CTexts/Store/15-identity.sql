-- The store's identity, so that another store's backup is not taken for its own; and the time spent
-- on work, so that its loss can be reported.
CREATE TABLE identity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  store TEXT NOT NULL
) STRICT;
INSERT INTO identity VALUES (1, lower(hex(randomblob(16))));
ALTER TABLE work ADD COLUMN spent_seconds REAL;
