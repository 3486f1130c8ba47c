-- The signed tree head, and how much of the list the log file has.
CREATE TABLE receipt_head (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  size INTEGER NOT NULL,
  root TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE TABLE receipt_log (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  lines INTEGER NOT NULL,
  byte_count INTEGER NOT NULL
) STRICT;
INSERT INTO receipt_log VALUES (1, 0, 0);
