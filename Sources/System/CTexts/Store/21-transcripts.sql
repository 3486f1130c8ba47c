-- Transcripts among the files of recordings, by their artifacts.
ALTER TABLE note_files ADD COLUMN digest TEXT;
CREATE INDEX note_files_by_digest ON note_files (digest) WHERE digest IS NOT NULL;
