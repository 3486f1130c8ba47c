-- The change log holds rows of all tables, without triggers; and the time at which a checkpoint was
-- recorded, in nanoseconds since 1970.
DROP TRIGGER notes_insert_owed;
DROP TRIGGER notes_update_owed;
DROP TRIGGER notes_delete_owed;
DROP TRIGGER note_files_insert_owed;
DROP TRIGGER note_files_update_owed;
DROP TRIGGER note_files_delete_owed;
DROP TRIGGER note_events_insert_owed;
DROP TRIGGER note_events_update_owed;
DROP TRIGGER note_events_delete_owed;
DROP TRIGGER note_commands_insert_owed;
DROP TRIGGER note_commands_update_owed;
DROP TRIGGER note_commands_delete_owed;
DROP TABLE ledger_owed;
-- Its place was in a file of the old records; only the number still counts.
UPDATE ledger SET generation = 0, byte_count = 0, first_byte_count = 0;
ALTER TABLE checkpoints ADD COLUMN recorded_at INTEGER;
