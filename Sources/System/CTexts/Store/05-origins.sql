-- The recording behind an export; unknown in older rows.
ALTER TABLE published ADD COLUMN recording_path TEXT;
ALTER TABLE published ADD COLUMN recording_digest TEXT;
