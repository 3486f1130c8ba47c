-- The words of all transcripts, and where they come from. Of the sources of a sound, in whatever files it
-- is, the best one counts, in the order in which the command words chooses: aligned before recognised
-- words, then that of the run with the highest number. Text 0 stands for words that are gone; the source
-- still keeps worse ones from counting. Correction is the version of the corrections in the text.
-- Recordings of the same sound are the same in other files, with the same corrections; an unknown sound is
-- empty. A sound of several recordings is one recording, and its path is theirs with a character 31
-- between them.
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
  number INTEGER NOT NULL,
  is_aligned INTEGER NOT NULL,
  correction TEXT NOT NULL,
  sound TEXT NOT NULL,
  PRIMARY KEY (recording, pipeline, step)
) STRICT, WITHOUT ROWID;
CREATE INDEX sources_by_text ON sources (text);
CREATE INDEX sources_by_sound ON sources (sound);
CREATE INDEX sources_by_artifact ON sources (artifact);
CREATE INDEX sources_corrected ON sources (recording, correction) WHERE correction <> '';
CREATE TABLE runs (
  id TEXT PRIMARY KEY, is_open INTEGER NOT NULL, number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_number ON runs (number);
CREATE INDEX runs_open ON runs (id) WHERE is_open;
