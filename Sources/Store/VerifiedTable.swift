internal import Hashing
internal import PipelineModel

/// Which version of each artifact's file was last known to hold the bytes that its name promises.
///
/// A row holds for as long as the file's stamp does. One that is lost costs a reading, so the rows
/// alone are not worth a flush.
enum VerifiedTable {
  /// What is known of an artifact's file.
  struct Row: Hashable, Sendable {
    /// The stamp that the file had.
    let stamp: [SQLValue]
    /// When its bytes were last hashed, in seconds since 1970.
    let verifiedAt: Double
    /// The place of that among all commits and verifications: unlike times, it never goes back.
    let moment: Int64

    /// Whether a file is still the version that was verified.
    func covers(_ stamp: FileStamp) -> Bool { self.stamp == VerifiedTable.columns(stamp) }
  }

  private static let recording = "record an artifact in"
  private static let stampColumns = "inode, byte_count, modified_ns, changed_ns"

  /// What is known of an artifact's file; nil if nothing.
  static func row(of artifact: Digest, in database: inout Database) throws(StoreError) -> Row? {
    let rows = try database.run(
      "SELECT \(stampColumns), verified_at, moment FROM verified WHERE artifact = ?",
      [.text(artifact.hex)], to: "read artifacts in")
    guard let row = rows.first, let verifiedAt = row[4].real, let moment = row[5].integer else {
      return nil
    }
    return Row(stamp: Array(row[..<4]), verifiedAt: verifiedAt, moment: moment)
  }

  /// Records that the version of the file with this stamp was hashed, or written and hashed.
  static func record(
    _ artifact: Digest, _ stamp: FileStamp, at time: Double, in database: inout Database
  ) throws(StoreError) {
    try database.transactionWithoutFlush(to: recording) { (database) throws(StoreError) in
      let moment = try WorkTable.nextNumber(in: &database, to: recording)
      _ = try database.run(
        """
        INSERT OR REPLACE INTO verified (artifact, \(stampColumns), verified_at, moment)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """,
        [.text(artifact.hex)] + columns(stamp) + [.real(time), .integer(moment)], to: recording)
    }
  }

  /// Records that the store itself has changed a file's times or names, and none of its bytes.
  static func move(
    _ artifact: Digest, from old: FileStamp, to new: FileStamp, in database: inout Database
  ) throws(StoreError) {
    try database.transactionWithoutFlush(to: recording) { (database) throws(StoreError) in
      _ = try database.run(
        """
        UPDATE verified SET (\(stampColumns)) = (?, ?, ?, ?)
        WHERE artifact = ? AND (\(stampColumns)) = (?, ?, ?, ?)
        """, columns(new) + [.text(artifact.hex)] + columns(old), to: recording)
    }
  }

  /// The artifact whose file has this stamp; nil if none was verified with it.
  static func artifact(
    with stamp: FileStamp, in database: inout Database
  ) throws(StoreError) -> Digest? {
    try database.run(
      "SELECT artifact FROM verified WHERE (\(stampColumns)) = (?, ?, ?, ?)", columns(stamp),
      to: "read artifacts in"
    ).first?[0].text.flatMap(Digest.init(hex:))
  }

  /// Forgets an artifact's file, inside a transaction.
  static func remove(_ artifact: Digest, from database: inout Database) throws(StoreError) {
    try database.run(
      "DELETE FROM verified WHERE artifact = ?", [.text(artifact.hex)], to: recording)
  }

  /// What is compared: the file, its length and its times. The device is not: its number may
  /// change from one mount to the next.
  static func columns(_ stamp: FileStamp) -> [SQLValue] {
    [stamp.inode, stamp.byteCount, stamp.modified, stamp.changed].map(SQLValue.integer)
  }
}
