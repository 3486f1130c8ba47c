-- Pending time stamps of receipts. A reply, in base64, has yet to be written to its path.
CREATE TABLE awaited_stamps (
  receipt TEXT NOT NULL,
  authority TEXT NOT NULL,
  certificates TEXT NOT NULL,
  path TEXT NOT NULL,
  token TEXT NOT NULL,
  since REAL NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt REAL NOT NULL,
  trouble TEXT,
  reply TEXT,
  PRIMARY KEY (receipt, authority)
) STRICT, WITHOUT ROWID;
CREATE INDEX awaited_stamps_by_attempt ON awaited_stamps (next_attempt);
CREATE INDEX awaited_stamps_by_path ON awaited_stamps (path);
