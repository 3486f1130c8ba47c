internal import Hashing
internal import PipelineModel

/// The digests of what was struck for damage, so that what is made again can be compared with it.
enum StruckTable {
  private static let recording = "record a struck artifact in"

  /// Notes what an output was, inside a transaction.
  static func note(
    key: String, isSuspect: Bool, outputsOf artifact: Digest?, in database: inout Database
  ) throws(StoreError) {
    try database.run(
      """
      INSERT OR IGNORE INTO struck (key, port, artifact, is_suspect)
      SELECT key, port, artifact, ?2 FROM outputs
      WHERE key = ?1 AND artifact IS NOT NULL AND (?3 IS NULL OR artifact = ?3)
      """, [.text(key), .integer(isSuspect ? 1 : 0), SQLValue(artifact?.hex)], to: recording)
  }

  /// Compares a checkpoint with what was struck of it, and forgets that, inside a transaction.
  /// - Returns: what differs.
  static func settle(
    _ checkpoint: Checkpoint, in database: inout Database
  ) throws(StoreError) -> [RemadeOutput] {
    var differences: [RemadeOutput] = []
    let key = SQLValue.text(checkpoint.key.digest.hex)
    for row in try database.run(
      "SELECT port, artifact, is_suspect FROM struck WHERE key = ?", [key], to: recording)
    {
      guard let port = row[0].text.map({ PortName($0) }),
        let before = row[1].text.flatMap(Digest.init(hex:)),
        let now = checkpoint.outputs[port]?.artifact?.digest
      else { continue }
      if now != before {
        differences.append(
          RemadeOutput(
            kind: checkpoint.components.kind, port: port, before: before, now: now,
            wasSuspect: row[2].integer == 1))
      }
      try database.run(
        "DELETE FROM struck WHERE key = ? AND port = ?", [key, .text(port.name)], to: recording)
    }
    return differences
  }
}
