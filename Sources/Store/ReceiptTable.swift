internal import Hashing
internal import PipelineModel

/// The rows of the list of receipts.
enum ReceiptTable {
  private static let reading = "read receipts in"
  private static let writing = "record a receipt in"

  /// Whether a receipt is there.
  static func contains(_ leaf: Digest, in database: inout Database) throws(StoreError) -> Bool {
    try !database.run(
      "SELECT 1 FROM receipts WHERE leaf = ?", [.text(leaf.hex)], to: reading
    ).isEmpty
  }

  /// Puts one in its place.
  static func insert(_ entry: ReceiptEntry, into database: inout Database) throws(StoreError) {
    try database.run(
      "INSERT INTO receipts (position, leaf, path) VALUES (?, ?, ?)",
      [.integer(Int64(entry.position)), .text(entry.leaf?.hex ?? ""), .text(entry.path)],
      to: writing)
  }

  /// Takes all out.
  static func removeAll(in database: inout Database) throws(StoreError) {
    try database.run("DELETE FROM receipts", to: writing)
  }

  /// How many there are.
  static func count(in database: inout Database) throws(StoreError) -> Int {
    Int(
      try database.run("SELECT count(*) FROM receipts", to: reading).first?.first?.integer ?? 0)
  }

  /// All, in order.
  static func entries(in database: inout Database) throws(StoreError) -> [ReceiptEntry] {
    try entries("?", .integer(1), in: &database)
  }

  /// All from a place on, in order.
  static func entries(
    from first: Int, in database: inout Database
  ) throws(StoreError) -> [ReceiptEntry] {
    try entries("position >= ?", .integer(Int64(first)), in: &database)
  }

  /// Those that were written at a path, in order.
  static func entries(
    at path: String, in database: inout Database
  ) throws(StoreError) -> [ReceiptEntry] {
    try entries("path = ?", .text(path), in: &database)
  }

  /// Those whose path begins so, in order.
  static func entries(
    beginningWith prefix: String, in database: inout Database
  ) throws(StoreError) -> [ReceiptEntry] {
    try entries("substr(path, 1, length(?1)) = ?1", .text(prefix), in: &database)
  }

  private static func entries(
    _ condition: String, _ value: SQLValue, in database: inout Database
  ) throws(StoreError) -> [ReceiptEntry] {
    try database.run(
      "SELECT position, leaf, path FROM receipts WHERE \(condition) ORDER BY position", [value],
      to: reading
    ).map { row in
      ReceiptEntry(
        position: Int(row[0].integer ?? 0), leaf: row[1].text.flatMap(Digest.init(hex:)),
        path: row[2].text ?? "")
    }
  }

  /// The signed head; nil where there is none.
  static func head(in database: inout Database) throws(StoreError) -> ReceiptHead? {
    let row = try database.run("SELECT size, root, text FROM receipt_head", to: reading).first
    guard let row, let size = row[0].integer, let text = row[2].text else { return nil }
    // A root that does not read is that of nothing, and the head contradicts the leaves.
    let root = row[1].text.flatMap(Digest.init(hex:)) ?? SHA256.digest(of: "")
    return ReceiptHead(size: Int(size), root: root, text: text)
  }

  static func setHead(_ head: ReceiptHead, in database: inout Database) throws(StoreError) {
    try database.run(
      """
      INSERT INTO receipt_head (id, size, root, text) VALUES (1, ?, ?, ?)
      ON CONFLICT (id) DO UPDATE SET size = excluded.size, root = excluded.root,
        text = excluded.text
      """, [.integer(Int64(head.size)), .text(head.root.hex), .text(head.text)], to: writing)
  }

  static func log(in database: inout Database) throws(StoreError) -> ReceiptLog.Standing {
    let row = try database.run("SELECT lines, byte_count FROM receipt_log", to: reading).first
    return ReceiptLog.Standing(
      lines: Int(row?[0].integer ?? 0), byteCount: row?[1].integer ?? 0)
  }

  static func setLog(
    _ standing: ReceiptLog.Standing, in database: inout Database
  ) throws(StoreError) {
    try database.run(
      "UPDATE receipt_log SET lines = ?, byte_count = ?",
      [.integer(Int64(standing.lines)), .integer(standing.byteCount)], to: writing)
  }
}
