internal import PipelineModel
internal import Platform

/// The rows of the transparency log.
enum ReceiptTable {
  private static let reading = "read receipts in"
  private static let writing = "record a receipt in"

  static func contains(_ leaf: Digest, in database: inout Database) throws(SpoolError) -> Bool {
    try !database.run(
      "SELECT 1 FROM receipts WHERE leaf = ?", [.text(leaf.hex)], to: reading
    ).isEmpty
  }

  static func insert(_ entry: ReceiptEntry, into database: inout Database) throws(SpoolError) {
    try database.run(
      "INSERT INTO receipts (position, leaf, path) VALUES (?, ?, ?)",
      [.integer(Int64(entry.position)), .text(entry.leaf?.hex ?? ""), .text(entry.path)],
      to: writing)
  }

  static func removeAll(in database: inout Database) throws(SpoolError) {
    try database.run("DELETE FROM receipts", to: writing)
  }

  static func count(in database: inout Database) throws(SpoolError) -> Int {
    Int(
      try database.run("SELECT count(*) FROM receipts", to: reading).first?.first?.integer ?? 0)
  }

  static func entries(in database: inout Database) throws(SpoolError) -> [ReceiptEntry] {
    try entries("?", .integer(1), in: &database)
  }

  /// All entries from a position on, in order.
  static func entries(
    from first: Int, in database: inout Database
  ) throws(SpoolError) -> [ReceiptEntry] {
    try entries("position >= ?", .integer(Int64(first)), in: &database)
  }

  /// The entries at a path, in order.
  static func entries(
    at path: String, in database: inout Database
  ) throws(SpoolError) -> [ReceiptEntry] {
    try entries("path = ?", .text(path), in: &database)
  }

  /// The entries whose path has this prefix, in order.
  static func entries(
    beginningWith prefix: String, in database: inout Database
  ) throws(SpoolError) -> [ReceiptEntry] {
    try entries("substr(path, 1, length(?1)) = ?1", .text(prefix), in: &database)
  }

  private static func entries(
    _ condition: String, _ value: SQLValue, in database: inout Database
  ) throws(SpoolError) -> [ReceiptEntry] {
    try database.run(
      "SELECT position, leaf, path FROM receipts WHERE \(condition) ORDER BY position", [value],
      to: reading
    ).map { row in
      ReceiptEntry(
        position: Int(row[0].integer ?? 0), leaf: row[1].text.flatMap(Digest.init(hex:)),
        path: row[2].text ?? "")
    }
  }

  /// The signed head; nil if there is none.
  static func head(in database: inout Database) throws(SpoolError) -> ReceiptHead? {
    let row = try database.run("SELECT size, root, text FROM receipt_head", to: reading).first
    guard let row, let size = row[0].integer, let text = row[2].text else { return nil }
    // An unreadable root is replaced by that of the empty tree, which contradicts the leaves.
    let root = row[1].text.flatMap(Digest.init(hex:)) ?? SHA256.digest(of: "")
    return ReceiptHead(size: Int(size), root: root, text: text)
  }

  static func setHead(_ head: ReceiptHead, in database: inout Database) throws(SpoolError) {
    try database.run(
      """
      INSERT INTO receipt_head (id, size, root, text) VALUES (1, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET size = excluded.size, root = excluded.root,
        text = excluded.text
      """, [.integer(Int64(head.size)), .text(head.root.hex), .text(head.text)], to: writing)
  }

  static func log(in database: inout Database) throws(SpoolError) -> ReceiptLog.State {
    let row = try database.run("SELECT lines, byte_count FROM receipt_log", to: reading).first
    return ReceiptLog.State(
      lines: Int(row?[0].integer ?? 0), byteCount: row?[1].integer ?? 0)
  }

  static func setLog(
    _ status: ReceiptLog.State, in database: inout Database
  ) throws(SpoolError) {
    try database.run(
      "UPDATE receipt_log SET lines = ?, byte_count = ?",
      [.integer(Int64(status.lines)), .integer(status.byteCount)], to: writing)
  }
}
