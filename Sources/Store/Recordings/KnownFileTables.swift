internal import PipelineModel
internal import Platform

/// Files outside the store; a row is valid while the file's stamp is the same.
enum KnownFileTables {
  /// The digest recorded for this version of the file, if its checksum is right: it becomes the
  /// recording's identity and is signed in receipts.
  static func digest(
    ofFile path: String, stamp: FileStamp, in database: inout Database
  ) throws(SpoolError) -> Digest? {
    let rows = try database.run(
      "SELECT digest FROM digests WHERE path = ? AND \(stampMatches)",
      [.text(path)] + stamp.columns, to: "read known files in")
    return rows.first?[0].text.flatMap(SealedText.open).flatMap(Digest.init(hex:))
  }

  /// Records the digest of this version of the file.
  static func remember(
    _ digest: Digest, ofFile path: String, stamp: FileStamp, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "INSERT OR REPLACE INTO digests (path, \(stampColumns), digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
      [.text(path)] + stamp.columns + [.text(SealedText.seal(digest.hex))],
      to: "record a file in")
  }

  /// What a file was published as.
  struct Published: Sendable {
    let content: Digest
    /// The source recording; nil if unknown.
    let recording: RecordingIdentity?
  }

  /// What this version of the file was published as; nil if it was not.
  static func published(
    at path: String, stamp: FileStamp, in database: inout Database
  ) throws(SpoolError) -> Published? {
    let rows = try database.run(
      """
      SELECT content, recording_path, recording_digest FROM published
      WHERE path = ? AND \(stampMatches)
      """, [.text(path)] + stamp.columns, to: "read published files in")
    guard let row = rows.first, let content = row[0].text.flatMap(Digest.init(hex:)) else {
      return nil
    }
    guard let origin = row[1].text, let digest = row[2].text.flatMap(Digest.init(hex:)) else {
      return Published(content: content, recording: nil)
    }
    return Published(
      content: content, recording: RecordingIdentity(path: origin, digest: digest))
  }

  /// Records a publication, and clears its temporary path.
  static func publish(
    _ published: Published, at path: String, stamp: FileStamp, from temporary: String,
    in database: inout Database
  ) throws(SpoolError) {
    try database.transaction(to: recordAction) { (database) throws(SpoolError) in
      try record(
        published.content, from: (published.recording?.path, published.recording?.digest.hex),
        at: path, stamp: stamp, in: &database)
      try forgetUnfinished(temporary, in: &database)
    }
  }

  /// Records this version as published last, under the name of its own bytes: its former content
  /// name is unknown.
  static func recognize(
    _ digest: Digest, at path: String, stamp: FileStamp, in database: inout Database
  ) throws(SpoolError) {
    let origin = try database.run(
      "SELECT recording_path, recording_digest FROM published WHERE path = ?", [.text(path)],
      to: "read published files in"
    ).first
    try record(
      digest, from: (origin?[0].text, origin?[1].text), at: path, stamp: stamp, in: &database)
  }

  private static func record(
    _ content: Digest, from origin: (path: String?, digest: String?), at path: String,
    stamp: FileStamp, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      """
      INSERT OR REPLACE INTO published
        (path, \(stampColumns), content, recording_path, recording_digest)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [.text(path)] + stamp.columns + [
        .text(content.hex), SQLValue(origin.path), SQLValue(origin.digest),
      ], to: recordAction)
  }

  /// Removes a temporary path.
  static func forgetUnfinished(
    _ path: String, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "DELETE FROM unfinished WHERE path = ?", [.text(path)], to: "record a file in")
  }

  private static let recordAction = "record a published file in"
  private static let stampColumns = "device, inode, byte_count, modified_ns, changed_ns"
  private static let stampMatches =
    "(\(stampColumns)) = (?, ?, ?, ?, ?)"
}

extension FileStamp {
  /// The compared fields of a file outside the store.
  var columns: [SQLValue] { [device, inode, byteCount, modified, changed].map(SQLValue.integer) }
}
