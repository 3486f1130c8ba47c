internal import PipelineModel

/// The tables of the store's database, as the steps by which they came to be. A step that was
/// released is never changed; what is new is a new step.
struct Schema: Sendable {
  /// The SQL of each step. A database at version n has gone through the first n.
  let steps: [String]
  /// What a database of each version from 1 on consists of; fails where a step does.
  let shapes: Result<[SchemaShape], StoreError>

  init(steps: [String]) {
    self.steps = steps
    shapes = Result { () throws(StoreError) in try SchemaShape.all(of: steps) }
  }

  /// The tables of this version of Spool.
  static let current = Schema(
    steps: [
      checkpointsAndRuns, custody, work, runOwners, origins, pins, batches, notes, verification,
      ledger, noteNames, format, receipts, claims, identity, places, stamps,
      watches, runOrder, receiptHead, transcripts,
    ])

  /// Brings a database up to date, in one transaction: it is wholly of the new format, or as it was.
  ///
  /// Throws, and changes nothing, if a newer Spool has written it.
  func migrate(_ database: inout Database, at path: String) throws(StoreError) {
    if try version(of: &database, path) == steps.count { return }
    try database.transaction(to: "update") { (database) throws(StoreError) in
      // The version is read again inside: another process may have done all this meanwhile.
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

  /// The step that a database has come to; throws if a newer Spool has written it.
  func version(of database: inout Database, _ path: String) throws(StoreError) -> Int {
    let version = Int(
      try database.run("PRAGMA user_version", to: "open").first?.first?.integer ?? 0)
    guard version <= steps.count else { throw newer(version, path) }
    guard version >= 0 else {
      throw StoreError(
        "open", path: path, reason: "its header is damaged: there is no format \(version)",
        advice: "spool repair makes it again")
    }
    return version
  }

  /// What batches remember of before says nothing of artifacts, and is looked up anew.
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

  /// Which recording an export was made of; unknown for those of before.
  private static let origins = """
    ALTER TABLE published ADD COLUMN recording_path TEXT;
    ALTER TABLE published ADD COLUMN recording_digest TEXT;
    """

  private static let custody = """
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
