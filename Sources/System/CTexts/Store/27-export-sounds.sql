-- All sound inputs of the run behind an export, as JSON: their paths, their bytes and, where known,
-- their samples. Unknown for older rows.
ALTER TABLE published ADD COLUMN sounds TEXT;
