-- The length of the change log, and the recordings and commands whose changes it lacks.
-- The triggers record every change of a table's rows by their key columns. Not with INSERT OR
-- IGNORE: the outer statement's conflict clause overrides it.
CREATE TABLE ledger (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  generation INTEGER NOT NULL,
  byte_count INTEGER NOT NULL,
  first_byte_count INTEGER NOT NULL,
  number INTEGER NOT NULL
) STRICT;
INSERT INTO ledger VALUES (1, 0, 0, 0, 0);
CREATE TABLE ledger_owed (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER notes_insert_owed AFTER INSERT ON notes BEGIN
  INSERT INTO ledger_owed SELECT 'note', NEW.key
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'note' AND name = NEW.key);
END;
CREATE TRIGGER notes_update_owed AFTER UPDATE ON notes BEGIN
  INSERT INTO ledger_owed SELECT 'note', NEW.key
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'note' AND name = NEW.key);
END;
CREATE TRIGGER notes_delete_owed AFTER DELETE ON notes BEGIN
  INSERT INTO ledger_owed SELECT 'note', OLD.key
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'note' AND name = OLD.key);
END;
CREATE TRIGGER note_files_insert_owed AFTER INSERT ON note_files BEGIN
  INSERT INTO ledger_owed SELECT 'note', NEW.note
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'note' AND name = NEW.note);
END;
CREATE TRIGGER note_files_update_owed AFTER UPDATE ON note_files BEGIN
  INSERT INTO ledger_owed SELECT 'note', NEW.note
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'note' AND name = NEW.note);
END;
CREATE TRIGGER note_files_delete_owed AFTER DELETE ON note_files BEGIN
  INSERT INTO ledger_owed SELECT 'note', OLD.note
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'note' AND name = OLD.note);
END;
CREATE TRIGGER note_events_insert_owed AFTER INSERT ON note_events BEGIN
  INSERT INTO ledger_owed SELECT 'note', NEW.note
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'note' AND name = NEW.note);
END;
CREATE TRIGGER note_events_update_owed AFTER UPDATE ON note_events BEGIN
  INSERT INTO ledger_owed SELECT 'note', NEW.note
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'note' AND name = NEW.note);
END;
CREATE TRIGGER note_events_delete_owed AFTER DELETE ON note_events BEGIN
  INSERT INTO ledger_owed SELECT 'note', OLD.note
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'note' AND name = OLD.note);
END;
CREATE TRIGGER note_commands_insert_owed AFTER INSERT ON note_commands BEGIN
  INSERT INTO ledger_owed SELECT 'command', NEW.pipeline || char(10) || NEW.id
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'command' AND name = NEW.pipeline || char(10) || NEW.id);
END;
CREATE TRIGGER note_commands_update_owed AFTER UPDATE ON note_commands BEGIN
  INSERT INTO ledger_owed SELECT 'command', NEW.pipeline || char(10) || NEW.id
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'command' AND name = NEW.pipeline || char(10) || NEW.id);
END;
CREATE TRIGGER note_commands_delete_owed AFTER DELETE ON note_commands BEGIN
  INSERT INTO ledger_owed SELECT 'command', OLD.pipeline || char(10) || OLD.id
    WHERE NOT EXISTS (
      SELECT 1 FROM ledger_owed WHERE kind = 'command' AND name = OLD.pipeline || char(10) || OLD.id);
END;
