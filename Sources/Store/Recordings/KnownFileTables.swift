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
    var content: Digest
    /// The source recording; nil if unknown.
    let recording: RecordingIdentity?
    /// The sound inputs of its run; empty if there were none, or if unknown.
    var sounds: [RecordingIdentity] = []
    /// The pipeline's name; nil if unknown.
    let pipeline: String?
    /// The path of the receipt that covers it; nil if none does, or if unknown.
    var receipt: String?
  }

  /// A published file, as it was then.
  struct Export: Sendable {
    /// An absolute path.
    let path: String
    let published: Published
    fileprivate let stamp: [SQLValue]

    func hasStamp(_ other: FileStamp) -> Bool { stamp == other.columns }

    /// As it was published, with the receipt where it is if it was moved or copied along: in the
    /// folder of the file, or in one below or above that came along as well.
    func published(movedTo other: String) -> Published {
      var moved = published
      var (old, new) = (FilePath.folder(of: path), FilePath.folder(of: other))
      while old != new, old.pathNames.last == new.pathNames.last {
        (old, new) = (FilePath.folder(of: old), FilePath.folder(of: new))
      }
      if let receipt = published.receipt, receipt.hasPrefix(old + "/") {
        moved.receipt = new + receipt.dropFirst(old.count)
      }
      return moved
    }
  }

  /// All published files whose recording and pipeline are known, by path.
  static func all(in database: inout Database) throws(SpoolError) -> [Export] {
    try exports("recording_path IS NOT NULL AND pipeline IS NOT NULL", in: &database)
  }

  /// The published files that had this length, by path.
  static func exports(
    sized byteCount: Int64, in database: inout Database
  ) throws(SpoolError) -> [Export] {
    try exports("byte_count = ?", [.integer(byteCount)], in: &database)
  }

  /// What was published last at a path, if it had this length; nil if nothing was.
  static func export(
    at path: String, sized byteCount: Int64, in database: inout Database
  ) throws(SpoolError) -> Published? {
    try exports(
      "path = ? AND byte_count = ?", [.text(path), .integer(byteCount)], in: &database
    ).first?.published
  }

  private static func exports(
    _ condition: String, _ values: [SQLValue] = [], in database: inout Database
  ) throws(SpoolError) -> [Export] {
    try database.run(
      """
      SELECT path, content, \(originColumns), \(stampColumns) FROM published
      WHERE \(condition) ORDER BY path
      """, values, to: "read published files in"
    ).compactMap { row in
      guard let path = row[0].text else { return nil }
      return published(row[1..<7]).map {
        Export(path: path, published: $0, stamp: Array(row[7..<12]))
      }
    }
  }

  /// Forgets a published file that was deleted.
  static func forget(_ path: String, in database: inout Database) throws(SpoolError) {
    try database.run("DELETE FROM published WHERE path = ?", [.text(path)], to: recordAction)
  }

  /// - Parameter row: the content and `originColumns`.
  private static func published(_ row: ArraySlice<SQLValue>) -> Published? {
    let row = Array(row)
    guard let content = row[0].text.flatMap(Digest.init(hex:)) else { return nil }
    let digest = row[2].text.flatMap(Digest.init(hex:))
    return Published(
      content: content,
      recording: row[1].text.flatMap { path in
        digest.map { RecordingIdentity(path: path, digest: $0) }
      }, sounds: row[5].text.flatMap { try? [RecordingIdentity](jsonText: $0) } ?? [],
      pipeline: row[3].text, receipt: row[4].text)
  }

  /// What this version of the file was published as; nil if it was not.
  static func published(
    at path: String, stamp: FileStamp, in database: inout Database
  ) throws(SpoolError) -> Published? {
    let rows = try database.run(
      """
      SELECT content, \(originColumns) FROM published
      WHERE path = ? AND \(stampMatches)
      """, [.text(path)] + stamp.columns, to: "read published files in")
    return rows.first.flatMap { published($0[...]) }
  }

  /// Whether a row of published files, by column, describes the file that is there now.
  static func isCurrent(_ row: [String: SQLValue]) -> Bool {
    guard let path = row["path"]?.text, let stamp = try? FileStamp(at: path) else { return false }
    return stampColumns.split(separator: ", ").map { row[String($0)] } == stamp.columns
  }

  /// Records a publication, and clears its temporary path.
  static func publish(
    _ published: Published, at path: String, stamp: FileStamp, from temporary: String,
    in database: inout Database
  ) throws(SpoolError) {
    try database.transaction(to: recordAction) { (database) throws(SpoolError) in
      try adopt(published, at: path, stamp: stamp, in: &database)
      try forgetUnfinished(temporary, in: &database)
    }
  }

  /// Records that this version of a file is what was published, here or at another path.
  static func adopt(
    _ published: Published, at path: String, stamp: FileStamp, in database: inout Database
  ) throws(SpoolError) {
    try record(
      published.content,
      [
        published.recording?.path, published.recording?.digest.hex, published.pipeline,
        published.receipt, text(of: published.sounds),
      ], at: path, stamp: stamp, in: &database)
  }

  /// Records this version as published last, under the name of its own bytes: its former content
  /// name is unknown.
  static func recognize(
    _ digest: Digest, at path: String, stamp: FileStamp, in database: inout Database
  ) throws(SpoolError) {
    let origin = try database.run(
      "SELECT \(originColumns) FROM published WHERE path = ?", [.text(path)],
      to: "read published files in"
    ).first
    try record(digest, (0..<5).map { origin?[$0].text }, at: path, stamp: stamp, in: &database)
  }

  /// Records the receipt that covers published files, where another one or none is recorded, and
  /// that it covers no others, as an earlier one of its path may have. O(published files).
  static func protect(
    _ paths: [String], by receipt: String, in database: inout Database
  ) throws(SpoolError) {
    try database.transaction(to: recordAction) { (database) throws(SpoolError) in
      let covered = try database.run(
        "SELECT path FROM published WHERE receipt = ?", [.text(receipt)], to: recordAction
      ).compactMap(\.[0].text)
      for path in Set(covered).subtracting(paths) {
        try database.run(
          "UPDATE published SET receipt = NULL WHERE path = ?", [.text(path)], to: recordAction)
      }
      for path in paths {
        try database.run(
          "UPDATE published SET receipt = ?1 WHERE path = ?2 AND receipt IS NOT ?1",
          [.text(receipt), .text(path)], to: recordAction)
      }
    }
  }

  /// The length of what was published last at a path; nil if nothing was.
  static func byteCount(
    ofPublished path: String, in database: inout Database
  ) throws(SpoolError) -> Int64? {
    try database.run(
      "SELECT byte_count FROM published WHERE path = ?", [.text(path)],
      to: "read published files in"
    ).first?[0].integer
  }

  /// Records the sound inputs of published files, where others or none are recorded.
  static func attribute(
    _ paths: [String], to sounds: [RecordingIdentity], in database: inout Database
  ) throws(SpoolError) {
    try database.transaction(to: recordAction) { (database) throws(SpoolError) in
      for path in paths {
        try database.run(
          "UPDATE published SET sounds = ?1 WHERE path = ?2 AND sounds IS NOT ?1",
          [SQLValue(text(of: sounds)), .text(path)], to: recordAction)
      }
    }
  }

  /// As it is stored; nil for none.
  private static func text(of sounds: [RecordingIdentity]) -> String? {
    sounds.isEmpty ? nil : JSONText.of(sounds)
  }

  /// - Parameter origin: the values of `originColumns`.
  private static func record(
    _ content: Digest, _ origin: [String?], at path: String, stamp: FileStamp,
    in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      """
      INSERT OR REPLACE INTO published
        (path, \(stampColumns), content, \(originColumns))
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [.text(path)] + stamp.columns + [.text(content.hex)] + origin.map { SQLValue($0) },
      to: recordAction)
  }

  /// Removes a temporary path.
  static func forgetUnfinished(
    _ path: String, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "DELETE FROM unfinished WHERE path = ?", [.text(path)], to: "record a file in")
  }

  private static let recordAction = "record a published file in"
  private static let originColumns = "recording_path, recording_digest, pipeline, receipt, sounds"
  private static let stampColumns = "device, inode, byte_count, modified_ns, changed_ns"
  private static let stampMatches =
    "(\(stampColumns)) = (?, ?, ?, ?, ?)"
}

extension FileStamp {
  /// The compared fields of a file outside the store.
  var columns: [SQLValue] { [device, inode, byteCount, modified, changed].map(SQLValue.integer) }
}
