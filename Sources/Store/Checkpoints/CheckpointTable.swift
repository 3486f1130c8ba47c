import PipelineModel
import Platform

/// Checkpoints as rows: one per checkpoint and one per output.
enum CheckpointTable {
  /// The checkpoint under `key`; its artifacts may be gone.
  static func checkpoint(
    for key: Checkpoint.Key, in database: inout Database
  ) throws(SpoolError) -> Checkpoint? {
    let action = "read checkpoints in"
    // One statement, so that no other commit falls between the two tables.
    let rows = try database.run(
      """
      SELECT components, memo, hint, warnings, port, outputs.kind, identity, artifact, byte_count
      FROM checkpoints LEFT JOIN outputs USING (key) WHERE key = ?
      """, [.text(key.digest.hex)], to: action)
    // An unreadable record counts as none: the work is done again.
    guard let first = rows.first, let text = first[0].text,
      let components: KeyComponents = try? StoredJSON.decode(text), components.key == key
    else { return nil }
    var outputs: [PortName: StepOutput] = [:]
    for row in rows {
      guard let port = row[4].text else { continue }
      guard let output = output(row[5...]) else { return nil }
      outputs[PortName(port)] = output
    }
    return Checkpoint(
      components: components, outputs: outputs, memo: first[1].text, hint: first[2].text,
      warnings: first[3].text.flatMap { try? StoredJSON.decode($0) })
  }

  static let recordAction = "record a checkpoint in"

  /// Writes checkpoints, all or none. Keeps outputs that only the older rows name.
  /// - Parameter isAllowed: called in the same transaction; its error rolls back.
  /// - Returns: outputs that differ from those removed for damage.
  static func commit(
    _ checkpoints: [Checkpoint], to database: inout Database,
    isAllowed: (inout Database) throws(SpoolError) -> Void = { _ throws(SpoolError) in }
  ) throws(SpoolError) -> [ReproducedOutput] {
    try database.transaction(to: recordAction) { (database) throws(SpoolError) in
      try isAllowed(&database)
      var differences: [ReproducedOutput] = []
      for checkpoint in checkpoints {
        let moment = try WorkTable.nextNumber(in: &database, to: recordAction)
        try write(checkpoint, at: moment, to: &database)
        differences += try RemovedArtifactTable.settle(checkpoint, in: &database)
      }
      return differences
    }
  }

  /// Writes a checkpoint's rows inside a transaction, merged with the present ones.
  /// - Parameter moment: position of the commit among all commits and verifications; nil if
  ///   unknown.
  static func write(
    _ checkpoint: Checkpoint, at moment: Int64? = nil, to database: inout Database
  ) throws(SpoolError) {
    let action = recordAction
    let key = SQLValue.text(checkpoint.key.digest.hex)
    let components = try StoredJSON.encode(checkpoint.components, to: action)
    let warnings = try checkpoint.warnings.map { (warnings) throws(SpoolError) in
      try StoredJSON.encode(warnings, to: action)
    }
    try database.run(
      """
      INSERT INTO checkpoints (key, kind, hint, components, memo, moment, recorded_at, warnings)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET components = excluded.components, moment = excluded.moment,
        recorded_at = excluded.recorded_at, warnings = excluded.warnings,
        hint = coalesce(excluded.hint, hint), memo = coalesce(excluded.memo, memo)
      """,
      [
        key, .text(checkpoint.components.kind), SQLValue(checkpoint.hint), .text(components),
        SQLValue(checkpoint.memo), moment.map(SQLValue.integer) ?? .null, .integer(Clock.now()),
        SQLValue(warnings),
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
  ) throws(SpoolError) -> Bool {
    try !database.run(
      "SELECT 1 FROM checkpoints WHERE kind = ? AND hint = ? LIMIT 1",
      [.text(kind), .text(hint)], to: "read checkpoints in"
    ).isEmpty
  }

  /// An output from its columns: kind, identity, artifact, byte count.
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

  /// The result of removing an artifact.
  struct RemovalOutcome: Hashable, Sendable {
    /// Checkpoints that remain: they lost only kept sound, which can be streamed again.
    var kept: [Checkpoint.Key] = []
    /// Checkpoints removed with it.
    var removed: [Checkpoint.Key] = []
    /// Checkpoints removed because they may derive from damaged bytes.
    var suspects: [Checkpoint.Key] = []
  }

  /// Removes every mention of an artifact, inside a transaction.
  static func strike(
    _ artifact: Digest, from database: inout Database
  ) throws(SpoolError) -> RemovalOutcome {
    let action = "strike an artifact from"
    let value = SQLValue.text(artifact.hex)
    let rows = try database.run(
      "SELECT key, max(kind <> 'sound') FROM outputs WHERE artifact = ? GROUP BY key", [value],
      to: action)
    var struck = RemovalOutcome()
    for row in rows {
      guard let text = row[0].text else { continue }
      let isWorthless = row[1].integer == 1
      if isWorthless {
        try database.run("DELETE FROM checkpoints WHERE key = ?", [.text(text)], to: action)
      } else {
        try database.run(
          "UPDATE outputs SET artifact = NULL, byte_count = NULL WHERE key = ? AND artifact = ?",
          [.text(text), value], to: action)
      }
      guard let key = Digest(hex: text).map(Checkpoint.Key.init) else { continue }
      if isWorthless { struck.removed.append(key) } else { struck.kept.append(key) }
    }
    return struck
  }

  /// Removes every mention of a damaged artifact, and every checkpoint that may derive from its
  /// bytes, inside a transaction: all descendants that are not older than its last verification.
  /// O(number of checkpoints).
  static func strikeDamaged(
    _ artifact: Digest, from database: inout Database
  ) throws(SpoolError) -> RemovalOutcome {
    let action = "strike an artifact from"
    let lastGood = try VerifiedTable.row(of: artifact, in: &database)?.moment
    let namers = try database.run(
      "SELECT key, identity FROM outputs WHERE artifact = ?", [.text(artifact.hex)], to: action)
    for row in namers {
      guard let key = row[0].text else { continue }
      try RemovedArtifactTable.record(
        key: key, isSuspect: false, outputsOf: artifact, in: &database)
    }
    var struck = RemovalOutcome()
    let identities = namers.compactMap { $0[1].text }
    for key in try descendants(of: identities, since: lastGood, in: &database) {
      try RemovedArtifactTable.record(
        key: key.digest.hex, isSuspect: true, outputsOf: nil, in: &database)
      try remove(key.digest.hex, from: &database)
      struck.suspects.append(key)
    }
    let direct = try strike(artifact, from: &database)
    struck.kept = direct.kept
    struck.removed = direct.removed
    try VerifiedTable.remove(artifact, from: &database)
    return struck
  }

  /// The checkpoints that derive from any of these outputs, directly or not, unless committed
  /// before a position.
  private static func descendants(
    of identities: [String], since moment: Int64?, in database: inout Database
  ) throws(SpoolError) -> [Checkpoint.Key] {
    let reading = "read checkpoints in"
    var consumers: [String: [Checkpoint.Key]] = [:]
    for row in try database.run("SELECT components, moment FROM checkpoints", to: reading) {
      if let moment, let own = row[1].integer, own < moment { continue }
      guard let components: KeyComponents = row[0].text.flatMap({ try? StoredJSON.decode($0) })
      else { continue }
      for identity in components.inputs.values {
        consumers[identity.hex, default: []].append(components.key)
      }
    }
    var found: Set<Checkpoint.Key> = []
    var waiting = identities
    while let identity = waiting.popLast() {
      for key in consumers[identity] ?? [] where found.insert(key).inserted {
        waiting += try database.run(
          "SELECT identity FROM outputs WHERE key = ?", [.text(key.digest.hex)], to: reading
        ).compactMap { $0.first?.text }
      }
    }
    return found.sorted { $0.digest < $1.digest }
  }

  /// Removes a checkpoint, inside a transaction; `key` as in the row, which may be damaged.
  static func remove(_ key: String, from database: inout Database) throws(SpoolError) {
    try database.run(
      "DELETE FROM checkpoints WHERE key = ?", [.text(key)], to: "remove a checkpoint from")
  }

  /// Removes what names missing artifacts, inside a transaction. O(artifacts).
  static func strikeMissing(
    in layout: StoreLayout, from database: inout Database
  ) throws(SpoolError) {
    let rows = try database.run(
      "SELECT DISTINCT artifact, byte_count FROM outputs WHERE artifact IS NOT NULL", to: "read")
    for row in rows {
      guard let digest = row[0].text.flatMap(Digest.init(hex:)), let count = row[1].integer else {
        continue
      }
      if !layout.holds(Artifact(kind: .file, digest: digest, byteCount: Int(count))) {
        _ = try strike(digest, from: &database)
      }
    }
  }

  static func keys(in database: inout Database) throws(SpoolError) -> [String] {
    try database.run("SELECT key FROM checkpoints", to: "read checkpoints in")
      .compactMap { $0.first?.text }
  }

  /// All checkpoints' artifacts and times, in nanoseconds since 1970, in one statement. Rows that
  /// cannot be read name nothing. O(outputs).
  static func artifacts(
    in database: inout Database
  ) throws(SpoolError) -> [Digest: (recordedAt: Int64?, artifacts: [Artifact])] {
    let rows = try database.run(
      """
      SELECT key, recorded_at, outputs.kind, identity, artifact, byte_count
      FROM checkpoints LEFT JOIN outputs USING (key)
      """, to: "read checkpoints in")
    var found: [Digest: (recordedAt: Int64?, artifacts: [Artifact])] = [:]
    for row in rows {
      guard let key = row[0].text.flatMap(Digest.init(hex:)) else { continue }
      found[key, default: (row[1].integer, [])].artifacts += [output(row[2...])?.artifact]
        .compactMap(\.self)
    }
    return found
  }

  /// What each checkpoint was made of, and what it is. Leaves out rows that cannot be read. O(outputs).
  static func derivations(in database: inout Database) throws(SpoolError) -> [Derivation] {
    let rows = try database.run(
      """
      SELECT key, components, port, outputs.kind, identity, artifact, byte_count
      FROM checkpoints JOIN outputs USING (key) ORDER BY key
      """, to: "read checkpoints in")
    var found: [Derivation] = []
    var (components, outputs): (KeyComponents?, [PortName: StepOutput]) = (nil, [:])
    func end() {
      guard let components, !outputs.isEmpty else { return }
      var derivation = Derivation(
        key: components.key, inputs: components.inputs, outputs: outputs)
      derivation.corrected = components.parameters.firstMatch(of: /"corrected":"([0-9a-f]{64})"/)
        .flatMap { Digest(hex: String($0.1)) }
      found.append(derivation)
    }
    var key: String?
    for row in rows {
      if row[0].text != key {
        end()
        key = row[0].text
        components = row[1].text.flatMap { try? StoredJSON.decode($0) }
        outputs = [:]
      }
      if let port = row[2].text { outputs[PortName(port)] = output(row[3...]) }
    }
    end()
    return found
  }

  /// Whether a checkpoint names its artifacts by digests.
  static func namesWell(_ key: String, in database: inout Database) throws(SpoolError) -> Bool {
    try database.run(
      "SELECT 1 FROM outputs WHERE key = ? AND (length(artifact) <> 64 OR artifact GLOB ?) LIMIT 1",
      [.text(key), .text("*[^0-9a-f]*")], to: "read checkpoints in"
    ).isEmpty
  }

  /// Whether any checkpoint names an artifact.
  static func names(
    _ artifact: Digest, in database: inout Database
  ) throws(SpoolError) -> Bool {
    try !database.run(
      "SELECT 1 FROM outputs WHERE artifact = ? LIMIT 1", [.text(artifact.hex)],
      to: "read checkpoints in"
    ).isEmpty
  }
}

/// The digests of outputs removed for damage, to be compared with their replacements.
enum RemovedArtifactTable {
  private static let recordAction = "record a struck artifact in"

  /// Records an output's digest, inside a transaction.
  static func record(
    key: String, isSuspect: Bool, outputsOf artifact: Digest?, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      """
      INSERT OR IGNORE INTO struck (key, port, artifact, is_suspect)
      SELECT key, port, artifact, ?2 FROM outputs
      WHERE key = ?1 AND artifact IS NOT NULL AND (?3 IS NULL OR artifact = ?3)
      """, [.text(key), .integer(isSuspect ? 1 : 0), SQLValue(artifact?.hex)], to: recordAction)
  }

  /// Compares a checkpoint with its removed outputs and deletes those rows, inside a transaction.
  /// - Returns: the differences.
  static func settle(
    _ checkpoint: Checkpoint, in database: inout Database
  ) throws(SpoolError) -> [ReproducedOutput] {
    var differences: [ReproducedOutput] = []
    let key = SQLValue.text(checkpoint.key.digest.hex)
    for row in try database.run(
      "SELECT port, artifact, is_suspect FROM struck WHERE key = ?", [key], to: recordAction)
    {
      guard let port = row[0].text.map({ PortName($0) }),
        let before = row[1].text.flatMap(Digest.init(hex:)),
        let now = checkpoint.outputs[port]?.artifact?.digest
      else { continue }
      if now != before {
        differences.append(
          ReproducedOutput(
            kind: checkpoint.components.kind, port: port, before: before, now: now,
            wasSuspect: row[2].integer == 1))
      }
      try database.run(
        "DELETE FROM struck WHERE key = ? AND port = ?", [key, .text(port.name)], to: recordAction)
    }
    return differences
  }
}

extension Checkpoint {
  /// The checkpoint without kept sound that is gone; nil if anything else that it names is gone.
  func backed(where isThere: (Artifact) -> Bool) -> Checkpoint? {
    var checkpoint = self
    for (port, output) in outputs {
      guard let artifact = output.artifact, !isThere(artifact) else { continue }
      if output.kind != .sound { return nil }
      checkpoint.outputs[port]?.artifact = nil
    }
    return checkpoint
  }
}

extension StoreLayout {
  /// Whether an artifact lies in its place, with its length.
  func holds(_ artifact: Artifact) -> Bool {
    let stamp = try? FileStamp(at: self.artifact(artifact.digest))
    return stamp.map { $0.isRegularFile && $0.byteCount == artifact.byteCount } ?? false
  }
}
