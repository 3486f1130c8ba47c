-- An index of claims.
-- Pending changes of a recording's history and files, row by row: a recording that arrives a
-- thousand times has thousands of rows, which are not rewritten each time.
CREATE INDEX notes_by_conflict ON notes (conflict) WHERE conflict IS NOT NULL;
DROP TRIGGER note_files_insert_owed;
DROP TRIGGER note_files_update_owed;
DROP TRIGGER note_files_delete_owed;
DROP TRIGGER note_events_insert_owed;
DROP TRIGGER note_events_update_owed;
DROP TRIGGER note_events_delete_owed;
CREATE TRIGGER note_files_insert_owed AFTER INSERT ON note_files BEGIN
  INSERT INTO ledger_owed SELECT 'file', NEW.note || char(10) || NEW.id
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'file' AND name = NEW.note || char(10) || NEW.id);
END;
CREATE TRIGGER note_files_update_owed AFTER UPDATE ON note_files BEGIN
  INSERT INTO ledger_owed SELECT 'file', NEW.note || char(10) || NEW.id
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'file' AND name = NEW.note || char(10) || NEW.id);
END;
CREATE TRIGGER note_files_delete_owed AFTER DELETE ON note_files BEGIN
  INSERT INTO ledger_owed SELECT 'file', OLD.note || char(10) || OLD.id
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'file' AND name = OLD.note || char(10) || OLD.id);
END;
CREATE TRIGGER note_events_insert_owed AFTER INSERT ON note_events BEGIN
  INSERT INTO ledger_owed SELECT 'event', NEW.note || char(10) || NEW.number
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'event' AND name = NEW.note || char(10) || NEW.number);
END;
CREATE TRIGGER note_events_update_owed AFTER UPDATE ON note_events BEGIN
  INSERT INTO ledger_owed SELECT 'event', NEW.note || char(10) || NEW.number
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'event' AND name = NEW.note || char(10) || NEW.number);
END;
CREATE TRIGGER note_events_delete_owed AFTER DELETE ON note_events BEGIN
  INSERT INTO ledger_owed SELECT 'event', OLD.note || char(10) || OLD.number
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'event' AND name = OLD.note || char(10) || OLD.number);
END;
