-- Corrections of the words of recordings, in the order in which they were made. What changed is sealed
-- JSON.
CREATE TABLE word_corrections (
  recording TEXT NOT NULL,
  number INTEGER NOT NULL,
  author TEXT NOT NULL,
  at TEXT NOT NULL,
  transcript TEXT NOT NULL,
  changes TEXT NOT NULL,
  PRIMARY KEY (recording, number)
) STRICT, WITHOUT ROWID;
