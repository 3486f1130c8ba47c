-- The order of runs. Older ones have the number 0 and are ordered by their times.
ALTER TABLE runs ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
DROP INDEX runs_by_start;
CREATE INDEX runs_by_number ON runs (number, started_at);
