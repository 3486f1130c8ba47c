-- Whether every page of the file ends with its checksum, once more, out of reach of damage to the
-- header, which tells it too: 0 until a database of an older format was written anew.
ALTER TABLE format ADD COLUMN has_checksums INTEGER NOT NULL DEFAULT 0;
