import PipelineModel
import Platform

/// The tables of the store's database, as migration steps. A released step never changes; changes
/// are new steps.
struct Schema: Sendable {
  /// The SQL of each step. A database at version n has gone through the first n.
  let steps: [String]
  /// The shape of a database of each version from 1 on; fails if a step does.
  let shapes: Result<[SchemaShape], SpoolError>

  init(steps: [String]) {
    self.steps = steps
    shapes = Result { () throws(SpoolError) in try SchemaShape.all(of: steps) }
  }

  static let current = Schema(
    steps: [
      checkpointsAndRuns, exportFolder, work, runOwners, origins, pins, batches, recordings,
      verification,
      changeLog, noteNames, format, receipts, claims, identity, places, stamps,
      watches, runOrder, receiptHead, transcripts, openClaims,
    ])

  /// Migrates a database in one transaction.
  ///
  /// Throws, and changes nothing, if a newer Spool has written it.
  func migrate(_ database: inout Database, at path: String) throws(SpoolError) {
    if try version(of: &database, path) == steps.count { return }
    try database.transaction(to: "update") { (database) throws(SpoolError) in
      // Read again inside: another process may have migrated it meanwhile.
      let version = try version(of: &database, path)
      if version == steps.count { return }
      for step in steps[version...] { try database.script(step, to: "update") }
      try database.script("PRAGMA user_version = \(steps.count)", to: "update")
      if try Self.hasFormat(&database) {
        try database.run(
          "UPDATE format SET version = ?", [.integer(Int64(steps.count))], to: "update")
      }
    }
  }

  /// The version of a database; throws if a newer Spool has written it.
  func version(of database: inout Database, _ path: String) throws(SpoolError) -> Int {
    let version = Int(
      try database.run("PRAGMA user_version", to: "open").first?.first?.integer ?? 0)
    guard version <= steps.count else { throw newer(version, path) }
    guard version >= 0 else {
      throw SpoolError(
        "open", path, reason: "its header is damaged: there is no format \(version)",
        advice: "\(command: .repair) makes it again")
    }
    return version
  }

  /// Earlier rows of batches name no artifacts; they are looked up again.
  private static let verification = """
    CREATE TABLE verified (
      artifact TEXT PRIMARY KEY,
      inode INTEGER NOT NULL,
      byte_count INTEGER NOT NULL,
      modified_ns INTEGER NOT NULL,
      changed_ns INTEGER NOT NULL,
      verified_at REAL NOT NULL,
      moment INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX verified_by_inode ON verified (inode);
    ALTER TABLE checkpoints ADD COLUMN moment INTEGER;
    CREATE TABLE struck (
      key TEXT NOT NULL,
      port TEXT NOT NULL,
      artifact TEXT NOT NULL,
      is_suspect INTEGER NOT NULL,
      PRIMARY KEY (key, port)
    ) STRICT, WITHOUT ROWID;
    DELETE FROM batch_files;
    CREATE TABLE batch_artifacts (
      batch TEXT NOT NULL,
      path TEXT NOT NULL,
      artifact TEXT NOT NULL,
      PRIMARY KEY (batch, path, artifact),
      FOREIGN KEY (batch, path) REFERENCES batch_files (batch, path) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    """

  private static let checkpointsAndRuns = """
    CREATE TABLE checkpoints (
      key TEXT PRIMARY KEY,
      kind TEXT NOT NULL,
      hint TEXT,
      components TEXT NOT NULL,
      memo TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX checkpoints_by_hint ON checkpoints (kind, hint);
    CREATE TABLE outputs (
      key TEXT NOT NULL REFERENCES checkpoints (key) ON DELETE CASCADE,
      port TEXT NOT NULL,
      kind TEXT NOT NULL,
      identity TEXT NOT NULL,
      artifact TEXT,
      byte_count INTEGER,
      PRIMARY KEY (key, port),
      CHECK ((artifact IS NULL) = (byte_count IS NULL))
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX outputs_by_artifact ON outputs (artifact) WHERE artifact IS NOT NULL;
    CREATE TABLE runs (
      id TEXT PRIMARY KEY,
      started_at REAL NOT NULL,
      state TEXT NOT NULL,
      pipeline TEXT NOT NULL,
      record TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX runs_by_start ON runs (started_at);
    """

  /// The recording behind an export; unknown in older rows.
  private static let origins = """
    ALTER TABLE published ADD COLUMN recording_path TEXT;
    ALTER TABLE published ADD COLUMN recording_digest TEXT;
    """

  private static let exportFolder = """
    CREATE TABLE digests (
      path TEXT PRIMARY KEY,
      device INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      byte_count INTEGER NOT NULL,
      modified_ns INTEGER NOT NULL,
      changed_ns INTEGER NOT NULL,
      digest TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE published (
      path TEXT PRIMARY KEY,
      device INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      byte_count INTEGER NOT NULL,
      modified_ns INTEGER NOT NULL,
      changed_ns INTEGER NOT NULL,
      content TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE unfinished (
      path TEXT PRIMARY KEY,
      owner TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """

  private static let batches = """
    CREATE TABLE batch_files (
      batch TEXT NOT NULL,
      path TEXT NOT NULL,
      recording TEXT,
      sidecar TEXT,
      settings TEXT NOT NULL,
      name TEXT NOT NULL,
      state TEXT NOT NULL,
      media_seconds REAL,
      report TEXT NOT NULL,
      PRIMARY KEY (batch, path)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE batch_exports (
      batch TEXT NOT NULL,
      path TEXT NOT NULL,
      export TEXT NOT NULL,
      content TEXT NOT NULL,
      PRIMARY KEY (batch, path, export),
      FOREIGN KEY (batch, path) REFERENCES batch_files (batch, path) ON DELETE CASCADE
    ) STRICT, WITHOUT ROWID;
    """

  // The counter starts at the time: after a lost database, no old folder is taken for a new one.
  private static let work = """
    CREATE TABLE epochs (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      last INTEGER NOT NULL
    ) STRICT;
    INSERT INTO epochs VALUES (1, CAST(strftime('%s', 'now') AS INTEGER));
    CREATE TABLE work (
      work TEXT PRIMARY KEY,
      generation INTEGER NOT NULL,
      epoch INTEGER NOT NULL,
      owner TEXT,
      summary TEXT NOT NULL,
      claimed_at REAL NOT NULL,
      note TEXT,
      noted_at REAL,
      CHECK ((note IS NULL) = (noted_at IS NULL))
    ) STRICT, WITHOUT ROWID;
    """

  private static let runOwners = """
    ALTER TABLE runs ADD COLUMN owner TEXT;
    """

  private static let pins = """
    CREATE TABLE pins (
      run TEXT PRIMARY KEY,
      pinned_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    """
}

extension Schema {
  /// The order of runs. Older ones have the number 0 and are ordered by their times.
  static let runOrder = """
    ALTER TABLE runs ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
    DROP INDEX runs_by_start;
    CREATE INDEX runs_by_number ON runs (number, started_at);
    """
}

extension Schema {
  /// The store's identity, so that another store's backup is not taken for its own; and the time
  /// spent on work, so that its loss can be reported.
  static let identity = """
    CREATE TABLE identity (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      store TEXT NOT NULL
    ) STRICT;
    INSERT INTO identity VALUES (1, lower(hex(randomblob(16))));
    ALTER TABLE work ADD COLUMN spent_seconds REAL;
    """
}

extension Schema {
  /// Pending time stamps of receipts. A reply, in base64, has yet to be written to its path.
  static let stamps = """
    CREATE TABLE awaited_stamps (
      receipt TEXT NOT NULL,
      authority TEXT NOT NULL,
      certificates TEXT NOT NULL,
      path TEXT NOT NULL,
      token TEXT NOT NULL,
      since REAL NOT NULL,
      attempts INTEGER NOT NULL,
      next_attempt REAL NOT NULL,
      trouble TEXT,
      reply TEXT,
      PRIMARY KEY (receipt, authority)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX awaited_stamps_by_attempt ON awaited_stamps (next_attempt);
    CREATE INDEX awaited_stamps_by_path ON awaited_stamps (path);
    """
}

extension Schema {
  /// The leaves of the transparency log; append-only.
  static let receipts = """
    CREATE TABLE receipts (
      position INTEGER PRIMARY KEY,
      leaf TEXT NOT NULL UNIQUE,
      path TEXT NOT NULL
    ) STRICT;
    """

  /// The signed tree head, and how much of the list the log file has.
  static let receiptHead = """
    CREATE TABLE receipt_head (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      size INTEGER NOT NULL,
      root TEXT NOT NULL,
      text TEXT NOT NULL
    ) STRICT;
    CREATE TABLE receipt_log (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      lines INTEGER NOT NULL,
      byte_count INTEGER NOT NULL
    ) STRICT;
    INSERT INTO receipt_log VALUES (1, 0, 0);
    """
}

extension Schema {
  /// Mount points of watched folders; cancelled recordings; commands decided after their senders
  /// heard that they wait.
  static let places = """
    CREATE TABLE mounts (
      folder TEXT PRIMARY KEY,
      mount_point TEXT NOT NULL,
      seen_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    ALTER TABLE notes ADD COLUMN is_cancelled INTEGER NOT NULL DEFAULT 0;
    UPDATE notes SET is_cancelled = 1 WHERE state = 'failed' AND next_attempt IS NULL
      AND reason IN ('cancelled', 'cancelled by a device');
    CREATE INDEX notes_cancelled ON notes (pipeline, state_since) WHERE is_cancelled = 1;
    ALTER TABLE note_commands ADD COLUMN is_decided_late INTEGER NOT NULL DEFAULT 0;
    """

  /// The command of each inbox's last watch, and decided commands whose files are still in an
  /// inbox.
  static let watches = """
    CREATE TABLE watches (
      inbox TEXT PRIMARY KEY,
      command TEXT NOT NULL,
      began_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    ALTER TABLE note_commands ADD COLUMN left_file TEXT;
    CREATE INDEX note_commands_left ON note_commands (left_file) WHERE left_file IS NOT NULL;
    """
}

extension Schema {
  /// The length of the change log, and the recordings and commands whose changes it lacks.
  static let changeLog = """
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
    \(triggers("notes", "note", "key"))
    \(triggers("note_files", "note", "note"))
    \(triggers("note_events", "note", "note"))
    \(triggers("note_commands", "command", "pipeline", "id"))
    """

  /// Pending changes of a recording's history and files, row by row: a recording that arrives a
  /// thousand times has thousands of rows, which are not rewritten each time.
  static let noteParts = """
    \(dropTriggers("note_files"))
    \(dropTriggers("note_events"))
    \(triggers("note_files", "file", "note", "id"))
    \(triggers("note_events", "event", "note", "number"))
    """

  private static func dropTriggers(_ table: String) -> String {
    ["insert", "update", "delete"].map { "DROP TRIGGER \(table)_\($0)_owed;" }
      .joined(separator: "\n")
  }

  /// SQL that records every change of a table's rows by their key columns. Not with INSERT OR
  /// IGNORE: the outer statement's conflict clause overrides it.
  private static func triggers(_ table: String, _ kind: String, _ columns: String...) -> String {
    [("INSERT", "NEW"), ("UPDATE", "NEW"), ("DELETE", "OLD")].map { event, row in
      let name = columns.map { "\(row).\($0)" }.joined(separator: " || char(10) || ")
      return """
        CREATE TRIGGER \(table)_\(event.lowercased())_owed AFTER \(event) ON \(table) BEGIN
          INSERT INTO ledger_owed SELECT '\(kind)', \(name)
            WHERE NOT EXISTS (
              SELECT 1 FROM ledger_owed WHERE kind = '\(kind)' AND name = \(name));
        END;
        """
    }.joined(separator: "\n")
  }
}
