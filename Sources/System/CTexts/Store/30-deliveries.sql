-- Files on their way to destinations, and who waits for them: runs and recordings. A confirmed row
-- stays, so that the same file is never sent twice, and its name stays its own. The state of an upload
-- is base64.
CREATE TABLE destinations (
  name TEXT PRIMARY KEY,
  is_paused INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  held_until REAL,
  trouble TEXT
) STRICT, WITHOUT ROWID;
CREATE TABLE deliveries (
  id INTEGER PRIMARY KEY,
  destination TEXT NOT NULL,
  path TEXT NOT NULL,
  recording TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  digest TEXT NOT NULL,
  byte_count INTEGER NOT NULL,
  file TEXT,
  facts TEXT NOT NULL,
  if_there TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_try REAL NOT NULL,
  trouble TEXT,
  added_at REAL NOT NULL,
  upload TEXT,
  sent_byte_count INTEGER NOT NULL,
  confirmed_at REAL,
  confirmed_byte_count INTEGER,
  confirmed_digest TEXT,
  identifier TEXT
) STRICT;
CREATE UNIQUE INDEX deliveries_by_path ON deliveries (destination, path);
CREATE UNIQUE INDEX deliveries_by_file ON deliveries (destination, recording, name, digest);
CREATE INDEX deliveries_due ON deliveries (destination, state, next_try);
CREATE INDEX deliveries_wanted ON deliveries (digest) WHERE state <> 'delivered';
CREATE TABLE delivery_owners (
  owner TEXT NOT NULL,
  delivery INTEGER NOT NULL REFERENCES deliveries (id) ON DELETE CASCADE,
  is_required INTEGER NOT NULL,
  PRIMARY KEY (owner, delivery)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_owners_by_delivery ON delivery_owners (delivery);
