-- The leaves of the transparency log; append-only.
CREATE TABLE receipts (
  position INTEGER PRIMARY KEY,
  leaf TEXT NOT NULL UNIQUE,
  path TEXT NOT NULL
) STRICT;
