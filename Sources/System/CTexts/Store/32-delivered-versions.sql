-- The files of a version lie in one folder together, so that the same file may lie in several. The path of
-- an encrypted file, as people know it, is a fact.
DROP INDEX deliveries_by_file;
CREATE INDEX deliveries_by_file ON deliveries (destination, recording, name, digest);
CREATE INDEX deliveries_by_clear_path
  ON deliveries (destination, coalesce(json_extract(facts, '$.path'), path));
