internal import Hashing
internal import PipelineModel

extension CheckpointTable {
  /// What came of striking an artifact.
  struct Struck: Hashable, Sendable {
    /// The checkpoints that are there without it: it was kept sound, which can be streamed again.
    var kept: [Checkpoint.Key] = []
    /// The checkpoints that are gone: without it they are worth nothing.
    var removed: [Checkpoint.Key] = []
    /// The checkpoints that are gone because they may have been computed from damaged bytes.
    var suspects: [Checkpoint.Key] = []
  }

  /// Strikes every mention of an artifact, inside a transaction.
  static func strike(
    _ artifact: Digest, from database: inout Database
  ) throws(StoreError) -> Struck {
    let action = "strike an artifact from"
    let value = SQLValue.text(artifact.hex)
    let rows = try database.run(
      "SELECT key, max(kind <> 'sound') FROM outputs WHERE artifact = ? GROUP BY key", [value],
      to: action)
    var struck = Struck()
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

  /// Strikes every mention of an artifact whose bytes are damaged, and every checkpoint that may have
  /// been computed from them, inside a transaction: all that follow from what the artifact held and
  /// cannot be shown to be older than its last verification. O(number of checkpoints).
  static func strikeDamaged(
    _ artifact: Digest, from database: inout Database
  ) throws(StoreError) -> Struck {
    let action = "strike an artifact from"
    let lastGood = try VerifiedTable.row(of: artifact, in: &database)?.moment
    let namers = try database.run(
      "SELECT key, identity FROM outputs WHERE artifact = ?", [.text(artifact.hex)], to: action)
    for row in namers {
      guard let key = row[0].text else { continue }
      try StruckTable.note(key: key, isSuspect: false, outputsOf: artifact, in: &database)
    }
    var struck = Struck()
    let identities = namers.compactMap { $0[1].text }
    for key in try descendants(of: identities, since: lastGood, in: &database) {
      try StruckTable.note(key: key.digest.hex, isSuspect: true, outputsOf: nil, in: &database)
      try remove(key.digest.hex, from: &database)
      struck.suspects.append(key)
    }
    let direct = try strike(artifact, from: &database)
    struck.kept = direct.kept
    struck.removed = direct.removed
    try VerifiedTable.remove(artifact, from: &database)
    return struck
  }

  /// The checkpoints that follow from any of these outputs, near or far, unless they were committed
  /// before a moment.
  private static func descendants(
    of identities: [String], since moment: Int64?, in database: inout Database
  ) throws(StoreError) -> [Checkpoint.Key] {
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

  /// Removes a checkpoint, inside a transaction; `key` as the row has it, which may be damaged.
  static func remove(_ key: String, from database: inout Database) throws(StoreError) {
    try database.run(
      "DELETE FROM checkpoints WHERE key = ?", [.text(key)], to: "remove a checkpoint from")
  }

  /// The text of every key.
  static func keys(in database: inout Database) throws(StoreError) -> [String] {
    try database.run("SELECT key FROM checkpoints", to: "read checkpoints in")
      .compactMap { $0.first?.text }
  }

  /// Whether any checkpoint names an artifact.
  static func names(
    _ artifact: Digest, in database: inout Database
  ) throws(StoreError) -> Bool {
    try !database.run(
      "SELECT 1 FROM outputs WHERE artifact = ? LIMIT 1", [.text(artifact.hex)],
      to: "read checkpoints in"
    ).isEmpty
  }
}
