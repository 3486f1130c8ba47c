internal import Hashing
internal import PipelineModel

/// What the store knows of files outside: rows that hold for as long as the file's stamp does.
enum CustodyTables {
  /// The digest that was remembered for the file, if it is still that version of it.
  static func digest(
    ofFile path: String, stamp: FileStamp, in database: inout Database
  ) throws(StoreError) -> Digest? {
    let rows = try database.run(
      "SELECT digest FROM digests WHERE path = ? AND \(stampMatches)",
      [.text(path)] + columns(stamp), to: "read known files in")
    return rows.first?[0].text.flatMap(Digest.init(hex:))
  }

  /// Remembers the digest of this version of the file.
  static func remember(
    _ digest: Digest, ofFile path: String, stamp: FileStamp, in database: inout Database
  ) throws(StoreError) {
    try database.run(
      "INSERT OR REPLACE INTO digests (path, \(stampColumns), digest) VALUES (?, ?, ?, ?, ?, ?, ?)",
      [.text(path)] + columns(stamp) + [.text(digest.hex)], to: "record a file in")
  }

  /// What this version of the file was published as; nil if it was not.
  static func published(
    at path: String, stamp: FileStamp, in database: inout Database
  ) throws(StoreError) -> Digest? {
    let rows = try database.run(
      "SELECT content FROM published WHERE path = ? AND \(stampMatches)",
      [.text(path)] + columns(stamp), to: "read published files in")
    return rows.first?[0].text.flatMap(Digest.init(hex:))
  }

  /// Remembers what was published, and that nothing lies at its temporary path any more.
  static func publish(
    _ content: Digest, at path: String, stamp: FileStamp, from temporary: String,
    in database: inout Database
  ) throws(StoreError) {
    let action = "record a published file in"
    try database.transaction(to: action) { (database) throws(StoreError) in
      try database.run(
        "INSERT OR REPLACE INTO published (path, \(stampColumns), content)"
          + " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [.text(path)] + columns(stamp) + [.text(content.hex)], to: action)
      try forgetUnfinished(temporary, in: &database)
    }
  }

  /// Strikes a temporary path from the record.
  static func forgetUnfinished(
    _ path: String, in database: inout Database
  ) throws(StoreError) {
    try database.run(
      "DELETE FROM unfinished WHERE path = ?", [.text(path)], to: "record a file in")
  }

  private static let stampColumns = "device, inode, byte_count, modified_ns, changed_ns"
  private static let stampMatches =
    "(\(stampColumns)) = (?, ?, ?, ?, ?)"

  private static func columns(_ stamp: FileStamp) -> [SQLValue] {
    [stamp.device, stamp.inode, stamp.byteCount, stamp.modified, stamp.changed]
      .map(SQLValue.integer)
  }
}
