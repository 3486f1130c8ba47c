internal import PipelineModel
internal import Platform

/// The version of each artifact's file that was last known to hold the right bytes.
///
/// A row is valid while the file's stamp is the same. A lost row only costs a read, so these writes
/// are not flushed.
enum VerifiedTable {
  struct Row: Hashable, Sendable {
    let stamp: [SQLValue]
    /// Time of the last hash, in seconds since 1970.
    let verifiedAt: Double
    /// Its position among all commits and verifications; unlike times, monotonic.
    let moment: Int64

    func covers(_ stamp: FileStamp) -> Bool { self.stamp == VerifiedTable.columns(stamp) }
  }

  private static let recordAction = "record an artifact in"
  private static let stampColumns = "inode, byte_count, modified_ns, changed_ns"

  /// The row of an artifact's file.
  static func row(of artifact: Digest, in database: inout Database) throws(SpoolError) -> Row? {
    let rows = try database.run(
      "SELECT \(stampColumns), verified_at, moment FROM verified WHERE artifact = ?",
      [.text(artifact.hex)], to: "read artifacts in")
    guard let row = rows.first, let verifiedAt = row[4].real, let moment = row[5].integer else {
      return nil
    }
    return Row(stamp: Array(row[..<4]), verifiedAt: verifiedAt, moment: moment)
  }

  /// Records that the version with this stamp was hashed.
  static func record(
    _ artifact: Digest, _ stamp: FileStamp, at time: Double, in database: inout Database
  ) throws(SpoolError) {
    try database.transactionWithoutFlush(to: recordAction) { (database) throws(SpoolError) in
      let moment = try WorkTable.nextNumber(in: &database, to: recordAction)
      _ = try database.run(
        """
        INSERT OR REPLACE INTO verified (artifact, \(stampColumns), verified_at, moment)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """,
        [.text(artifact.hex)] + columns(stamp) + [.real(time), .integer(moment)], to: recordAction)
    }
  }

  /// Records that a file does not hold the right bytes, though its stamp may be the same. Its last good
  /// verification stays known: what was made before that is sound.
  static func distrust(_ artifact: Digest, in database: inout Database) throws(SpoolError) {
    try database.transactionWithoutFlush(to: recordAction) { (database) throws(SpoolError) in
      _ = try database.run(
        "UPDATE verified SET inode = -1 WHERE artifact = ?", [.text(artifact.hex)],
        to: recordAction)
    }
  }

  /// Records that the store changed a file's times or names, not its bytes.
  static func move(
    _ artifact: Digest, from old: FileStamp, to new: FileStamp, in database: inout Database
  ) throws(SpoolError) {
    try database.transactionWithoutFlush(to: recordAction) { (database) throws(SpoolError) in
      _ = try database.run(
        """
        UPDATE verified SET (\(stampColumns)) = (?, ?, ?, ?)
        WHERE artifact = ? AND (\(stampColumns)) = (?, ?, ?, ?)
        """, columns(new) + [.text(artifact.hex)] + columns(old), to: recordAction)
    }
  }

  /// The artifact whose file has this stamp; nil if none was verified with it.
  static func artifact(
    with stamp: FileStamp, in database: inout Database
  ) throws(SpoolError) -> Digest? {
    try database.run(
      "SELECT artifact FROM verified WHERE (\(stampColumns)) = (?, ?, ?, ?)", columns(stamp),
      to: "read artifacts in"
    ).first?[0].text.flatMap(Digest.init(hex:))
  }

  /// Removes an artifact's row, inside a transaction.
  static func remove(_ artifact: Digest, from database: inout Database) throws(SpoolError) {
    try database.run(
      "DELETE FROM verified WHERE artifact = ?", [.text(artifact.hex)], to: recordAction)
  }

  /// The compared fields. Without the device: its number may change from mount to mount.
  static func columns(_ stamp: FileStamp) -> [SQLValue] {
    [stamp.inode, stamp.byteCount, stamp.modified, stamp.changed].map(SQLValue.integer)
  }
}
