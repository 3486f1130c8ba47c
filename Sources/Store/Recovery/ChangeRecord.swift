import Platform

/// A transaction in the log: its length, number, a checksum of all that follows it, and its changes.
struct ChangeRecord: Sendable {
  /// The first line of a log file.
  static let head = "Spool change log 1\n"
  static let headByteCount = 4 + 8 + 16
  let number: Int64
  /// A patch set; empty at the end of the rows with which a log file begins.
  let changes: [UInt8]

  /// Nil if the checksum does not match.
  static func verified(_ head: [UInt8], _ changes: [UInt8]) -> ChangeRecord? {
    let number = head[4..<12].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let record = ChangeRecord(number: Int64(bitPattern: number), changes: changes)
    return record.head == head ? record : nil
  }

  var bytes: [UInt8] { head + changes }

  private var head: [UInt8] {
    let count = (0..<4).map { UInt8(truncatingIfNeeded: changes.count >> (24 - 8 * $0)) }
    let digits = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    var hash = SHA256()
    hash.update(count + digits)
    hash.update(changes)
    return count + digits + hash.finalize().bytes.prefix(16)
  }

  /// The length of the changes after a record's head; nil if that is torn or damaged.
  static func byteCount(_ head: [UInt8]) -> Int? {
    guard head.count == headByteCount else { return nil }
    return head[..<4].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Where the first intact record after the first byte begins; nil if there is none.
  static func firstPlace(in bytes: [UInt8]) -> Int? {
    for start in bytes.indices.dropFirst().dropLast(headByteCount - 1) {
      let first = start + headByteCount
      let count = bytes[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) }
      // A patch set begins with a P.
      guard count <= bytes.count - first, count == 0 || bytes[first] == UInt8(ascii: "P") else {
        continue
      }
      let changes = Array(bytes[first..<(first + count)])
      if verified(Array(bytes[start..<first]), changes) != nil { return start }
    }
    return nil
  }
}

/// What a database had lost and was restored: the keys of rows.
struct CatchUp: Hashable, Sendable {
  private var keys: [String: Set<[String]>] = [:]
  /// Bytes of the log that are damaged.
  var unreadByteCount = 0

  init() {}

  /// What is in a database.
  init(of database: inout Database) throws(SpoolError) {
    for (table, key) in [("checkpoints", "key"), ("runs", "id"), ("notes", "key")] {
      let rows = try database.run("SELECT \(key) FROM \(table)", to: "read")
      keys[table] = Set(rows.map { $0.compactMap(\.text) })
    }
  }

  mutating func count(_ table: String, _ key: String) {
    keys[table, default: []].insert([key])
  }

  func has(_ table: String, _ key: String) -> Bool { keys[table]?.contains([key]) == true }

  mutating func add(_ other: CatchUp) {
    keys.merge(other.keys) { $0.union($1) }
    unreadByteCount += other.unreadByteCount
  }

  mutating func subtract(_ other: CatchUp) {
    for (table, known) in other.keys { keys[table]?.subtract(known) }
  }

  mutating func count(_ changes: [UInt8]) {
    for (table, key, isDeleted) in Database.keys(in: changes) {
      if isDeleted { keys[table]?.remove(key) } else { keys[table, default: []].insert(key) }
    }
  }

  var checkpoints: Int { keys["checkpoints"]?.count ?? 0 }
  var runs: Int { keys["runs"]?.count ?? 0 }
  var recordings: Int { keys["notes"]?.count ?? 0 }

  var isEmpty: Bool { checkpoints == 0 && runs == 0 && recordings == 0 }

  /// `2 checkpoints, 1 run`.
  var words: String {
    [(checkpoints, "checkpoint"), (runs, "run"), (recordings, "recording")]
      .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
      .joined(separator: ", ")
  }

  var line: String {
    "the store's database knew less than the log beside it, and took it in: \(words)"
      + Self.unread(unreadByteCount)
  }

  static func unread(_ byteCount: Int) -> String {
    byteCount == 0 ? "" : "; \(byteCount) bytes of the log are damaged and could not be read"
  }
}
