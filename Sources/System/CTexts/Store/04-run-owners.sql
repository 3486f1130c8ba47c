-- The process that runs a pipeline.
ALTER TABLE runs ADD COLUMN owner TEXT;
