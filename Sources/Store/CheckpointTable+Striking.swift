internal import Hashing
internal import PipelineModel

extension CheckpointTable {
  /// What came of striking an artifact.
  struct Struck: Hashable, Sendable {
    /// The checkpoints that are there without it: it was kept sound, which can be streamed again.
    var kept: [Checkpoint.Key] = []
    /// The checkpoints that are gone: without it they are worth nothing.
    var removed: [Checkpoint.Key] = []
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
