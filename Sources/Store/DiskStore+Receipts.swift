public import Hashing
public import PipelineModel

extension DiskStore: ReceiptLedger {
  private static let writing = "record a receipt in"

  private var receiptLog: ReceiptLog { ReceiptLog(layout: layout, records: records) }

  /// Adds a receipt at the end, unless it is there, with the head over all: in one transaction, and
  /// then the files beside the database.
  public func append(
    receipt leaf: Digest, at path: String, knowing known: ReceiptHead?,
    sign: @Sendable (ReceiptGrowth) -> ReceiptHead?
  ) throws(StoreError) {
    try withDatabase { (database) throws(StoreError) in
      let isSigned = try database.transaction(to: Self.writing) {
        (database) throws(StoreError) in
        let isNew = try ReceiptTable.append(leaf, path, in: &database)
        let before = try ReceiptTable.head(in: &database)
        let count = try ReceiptTable.count(in: &database)
        if !isNew, before?.size == count { return true }
        guard try isAccountedFor(count - (isNew ? 1 : 0), before, in: &database) else {
          return false
        }
        let growth: ReceiptGrowth
        if isNew, let before, before == known, before.size == count - 1 {
          growth = .one(leaf)
        } else {
          let leaves = try ReceiptTable.entries(from: 0, in: &database).compactMap(\.leaf)
          growth = .all(leaves, since: before)
        }
        guard let head = sign(growth), head.size == count else { return false }
        try ReceiptTable.setHead(head, in: &database)
        return true
      }
      // Where nothing could be signed, the files stay as they are: they tell what was there.
      if !isSigned { return }
      try database.transaction(to: Self.writing) { (database) throws(StoreError) in
        try receiptLog.follow(&database)
      }
    }
  }

  /// Whether every receipt came in together with a head, or is in the log at least: what was put into
  /// the database by other hands is never signed.
  private func isAccountedFor(
    _ count: Int, _ head: ReceiptHead?, in database: inout Database
  ) throws(StoreError) -> Bool {
    guard let head else { return try ReceiptTable.log(in: &database).lines == 0 }
    if count <= head.size { return true }
    let noted = Set(receiptLog.read().compactMap(\.leaf))
    return try ReceiptTable.entries(from: head.size, in: &database).prefix(count - head.size)
      .allSatisfy { $0.leaf.map(noted.contains) ?? false }
  }

  /// The leaves of all receipts, in the order in which they were added. O(n).
  public func receiptLeaves() throws(StoreError) -> [Digest] {
    try withDatabase { (database) throws(StoreError) in
      try ReceiptTable.entries(from: 0, in: &database).compactMap(\.leaf)
    }
  }

  /// The leaves of the receipts that were written at a path, the oldest first. O(n).
  public func receipts(at path: String) throws(StoreError) -> [Digest] {
    try withDatabase { (database) throws(StoreError) in
      try ReceiptTable.leaves(at: path, in: &database)
    }
  }

  /// All that is known of the list of receipts. O(n).
  public func receiptRecords() throws(StoreError) -> ReceiptRecords {
    try withDatabase { (database) throws(StoreError) in
      // The files follow the database: read first, they are never before it.
      let (logged, copy) = (receiptLog.read(), receiptLog.head())
      return try database.transaction(to: "read receipts in") { (database) throws(StoreError) in
        ReceiptRecords(
          entries: try ReceiptTable.entries(from: 0, in: &database), logged: logged,
          head: try ReceiptTable.head(in: &database), copy: copy, databasePath: layout.database,
          logPath: layout.receiptLog, headPath: layout.receiptHead)
      }
    }
  }

  /// Puts the list back as it was under a signed head: in one transaction, and then the files beside
  /// the database. Killed between the two, the files follow with the next receipt or the next repair.
  public func restore(
    _ entries: [ReceiptEntry], under head: ReceiptHead
  ) throws(StoreError) {
    try withDatabase { (database) throws(StoreError) in
      try database.transaction(to: Self.writing) { (database) throws(StoreError) in
        try ReceiptTable.removeAll(in: &database)
        for entry in entries { try ReceiptTable.insert(entry, into: &database) }
        try ReceiptTable.setHead(head, in: &database)
        try ReceiptTable.setLog(ReceiptLog.Standing(lines: 0, byteCount: 0), in: &database)
      }
      try database.transaction(to: Self.writing) { (database) throws(StoreError) in
        try receiptLog.follow(&database)
      }
    }
  }

  /// Takes in what the files beside a restored database know of receipts, and it does not.
  func catchUpReceipts() throws(StoreError) {
    try withDatabase { (database) throws(StoreError) in
      try receiptLog.catchUp(&database)
    }
  }
}
