-- What the making of a checkpoint warned of, as a JSON list of texts; null for nothing, and unknown for
-- older rows. Whoever reuses the checkpoint is warned as well.
ALTER TABLE checkpoints ADD COLUMN warnings TEXT;
