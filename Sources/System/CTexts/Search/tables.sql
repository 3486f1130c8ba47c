-- The words of all transcripts, and where they come from.
CREATE VIRTUAL TABLE texts USING fts5(
  words, said, times UNINDEXED, columnsize = 0, tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE sources (
  recording TEXT NOT NULL,
  pipeline TEXT NOT NULL,
  step TEXT NOT NULL,
  text INTEGER NOT NULL,
  artifact TEXT NOT NULL,
  byte_count INTEGER NOT NULL,
  run TEXT NOT NULL,
  path TEXT NOT NULL,
  at REAL NOT NULL,
  PRIMARY KEY (recording, pipeline, step)
) STRICT, WITHOUT ROWID;
CREATE INDEX sources_by_text ON sources (text);
CREATE INDEX sources_by_artifact ON sources (artifact);
CREATE TABLE runs (id TEXT PRIMARY KEY, is_open INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX runs_open ON runs (id) WHERE is_open;
