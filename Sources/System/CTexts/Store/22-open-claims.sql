-- Whether a claim waits for a decision: older versions said so in the reason.
ALTER TABLE notes ADD COLUMN is_claim_open INTEGER NOT NULL DEFAULT 0;
UPDATE notes SET is_claim_open = 1 WHERE reason = 'it claims to be ' || conflict || ' with other bytes';
