internal import Hashing
internal import PipelineModel

/// Checkpoints as rows: one for the work, one for each of its outputs.
enum CheckpointTable {
  /// The checkpoint under `key`, whether or not its artifacts are still there.
  static func checkpoint(
    for key: Checkpoint.Key, in database: inout Database
  ) throws(StoreError) -> Checkpoint? {
    let action = "read checkpoints in"
    // One statement, so that another process's commit cannot fall between work and outputs.
    let rows = try database.run(
      """
      SELECT components, memo, hint, port, outputs.kind, identity, artifact, byte_count
      FROM checkpoints LEFT JOIN outputs USING (key) WHERE key = ?
      """, [.text(key.digest.hex)], to: action)
    // A record that does not read, or no longer gives its key, is as good as none: the work is
    // done again and recorded afresh.
    guard let first = rows.first, let text = first[0].text,
      let components: KeyComponents = try? StoredJSON.decode(text), components.key == key
    else { return nil }
    var outputs: [PortName: StepOutput] = [:]
    for row in rows {
      guard let port = row[3].text else { continue }
      guard let output = output(row[4...]) else { return nil }
      outputs[PortName(port)] = output
    }
    return Checkpoint(
      components: components, outputs: outputs, memo: first[1].text, hint: first[2].text)
  }

  /// What recording a checkpoint is called in errors.
  static let recording = "record a checkpoint in"

  /// Writes checkpoints, all or none. Where a key was recorded before, what only the older record
  /// names is kept. The whole of each is also written beside the database, before its row counts.
  /// - Parameter isAllowed: asked in the same transaction; what it throws keeps all as it was.
  /// - Returns: what came out otherwise than before it was struck for damage.
  static func commit(
    _ checkpoints: [Checkpoint], to database: inout Database, beside records: RecordFolder,
    isAllowed: (inout Database) throws(StoreError) -> Void = { _ throws(StoreError) in }
  ) throws(StoreError) -> [RemadeOutput] {
    try database.transaction(to: recording) { (database) throws(StoreError) in
      try isAllowed(&database)
      var whole: [Checkpoint] = []
      var differences: [RemadeOutput] = []
      for checkpoint in checkpoints {
        let moment = try WorkTable.nextNumber(in: &database, to: recording)
        try write(checkpoint, at: moment, to: &database)
        if let merged = try self.checkpoint(for: checkpoint.key, in: &database) {
          whole.append(merged)
        }
        differences += try StruckTable.settle(checkpoint, in: &database)
      }
      try records.write(whole)
      try Ledger(records: records).append(
        checkpoints.map { .checkpoint($0.key) }, in: &database)
      return differences
    }
  }

  /// Writes a checkpoint's rows inside a transaction, merged with what they were before.
  /// - Parameter moment: the place of the commit among all commits and verifications; nil where
  ///   nobody knows when it was.
  static func write(
    _ checkpoint: Checkpoint, at moment: Int64? = nil, to database: inout Database
  ) throws(StoreError) {
    let action = recording
    let key = SQLValue.text(checkpoint.key.digest.hex)
    let components = try StoredJSON.encode(checkpoint.components, to: action)
    try database.run(
      """
      INSERT INTO checkpoints (key, kind, hint, components, memo, moment)
      VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET components = excluded.components, moment = excluded.moment,
        hint = coalesce(excluded.hint, hint), memo = coalesce(excluded.memo, memo)
      """,
      [
        key, .text(checkpoint.components.kind), SQLValue(checkpoint.hint), .text(components),
        SQLValue(checkpoint.memo), moment.map(SQLValue.integer) ?? .null,
      ], to: action)
    for (port, output) in checkpoint.outputs.sorted(by: { $0.key < $1.key }) {
      try database.run(
        """
        INSERT INTO outputs (key, port, kind, identity, artifact, byte_count)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (key, port) DO UPDATE SET
          kind = excluded.kind,
          artifact = CASE WHEN excluded.artifact IS NULL AND identity = excluded.identity
            THEN artifact ELSE excluded.artifact END,
          byte_count = CASE WHEN excluded.artifact IS NULL AND identity = excluded.identity
            THEN byte_count ELSE excluded.byte_count END,
          identity = excluded.identity
        """,
        [
          key, .text(port.name), .text(output.kind.rawValue), .text(output.identity.hex),
          SQLValue(output.artifact?.digest.hex), SQLValue(output.artifact?.byteCount),
        ], to: action)
    }
  }

  /// Whether there is a checkpoint of this stage kind with this hint.
  static func hasCheckpoint(
    kind: String, hint: String, in database: inout Database
  ) throws(StoreError) -> Bool {
    try !database.run(
      "SELECT 1 FROM checkpoints WHERE kind = ? AND hint = ? LIMIT 1",
      [.text(kind), .text(hint)], to: "read checkpoints in"
    ).isEmpty
  }

  /// An output from its columns: kind, identity, artifact, byte count. Its artifact is of its kind.
  private static func output(_ columns: ArraySlice<SQLValue>) -> StepOutput? {
    let columns = Array(columns)
    guard let kind = columns[0].text.flatMap(ArtifactKind.init(rawValue:)),
      let identity = columns[1].text.flatMap(Digest.init(hex:))
    else { return nil }
    guard let digest = columns[2].text.flatMap(Digest.init(hex:)),
      let byteCount = columns[3].integer
    else { return StepOutput(kind: kind, identity: identity) }
    return StepOutput(
      kind: kind, identity: identity,
      artifact: Artifact(kind: kind, digest: digest, byteCount: Int(byteCount)))
  }
}
