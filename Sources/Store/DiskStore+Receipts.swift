public import Hashing
public import PipelineModel

extension DiskStore: ReceiptLedger {
  private static let writing = "record a receipt in"

  private var receiptLog: ReceiptLog { ReceiptLog(layout: layout, records: records) }

  /// Adds a receipt at the end, unless it is there, with the head over all: in one transaction, and
  /// then the files beside the database. Before it, they are brought up to where the database is, so
  /// that they are never more than one receipt behind it.
  public func append(
    receipt leaf: Digest, at path: String, knowing known: ReceiptHead?,
    sign: @Sendable (ReceiptGrowth) -> ReceiptHead?
  ) throws(StoreError) {
    try withDatabase { (database) throws(StoreError) in
      let isSigned = try database.transaction(to: Self.writing) {
        (database) throws(StoreError) in
        let count = try ReceiptTable.count(in: &database)
        let before = try ReceiptTable.head(in: &database)
        let entry =
          try ReceiptTable.contains(leaf, in: &database)
          ? nil : ReceiptEntry(position: count, leaf: leaf, path: path)
        var isKnown = before != nil && before == known && before?.size == count
        if isKnown { isKnown = try receiptLog.isUpToDate(in: &database) }
        let growth = ReceiptGrowth(entry, before: isKnown ? nil : try receiptRecords(in: &database))
        guard let head = sign(growth), let entry else { return false }
        try receiptLog.follow(&database)
        try ReceiptTable.insert(entry, into: &database)
        try ReceiptTable.setHead(head, in: &database)
        return true
      }
      guard isSigned else { return }
      try database.transaction(to: Self.writing) { (database) throws(StoreError) in
        try receiptLog.follow(&database)
      }
    }
  }

  /// The leaves of all receipts, in the order in which they were added. O(n).
  public func receiptLeaves() throws(StoreError) -> [Digest] {
    try withDatabase { (database) throws(StoreError) in
      try ReceiptTable.entries(from: 0, in: &database).compactMap(\.leaf)
    }
  }

  /// The receipts that were written at a path, the oldest first. O(n).
  public func receipts(at path: String) throws(StoreError) -> [ReceiptEntry] {
    try withDatabase { (database) throws(StoreError) in
      try ReceiptTable.entries(at: path, in: &database)
    }
  }

  /// The entries that are statements about others, the oldest first. O(n).
  public func statements() throws(StoreError) -> [ReceiptEntry] {
    try withDatabase { (database) throws(StoreError) in
      try ReceiptTable.entries(beginningWith: "{", in: &database)
    }
  }

  /// All that is known of the list of receipts. O(n).
  public func receiptRecords() throws(StoreError) -> ReceiptRecords {
    try withDatabase { (database) throws(StoreError) in
      while true {
        let head = try ReceiptTable.head(in: &database)
        let records = try receiptRecords(in: &database)
        // Who adds to it meanwhile adds to the files as well, but not at the very same time.
        if records.head == head { return records }
      }
    }
  }

  private func receiptRecords(in database: inout Database) throws(StoreError) -> ReceiptRecords {
    // The files follow the database: read first, they are never before it.
    let (logged, copy) = (receiptLog.read(), receiptLog.head())
    return ReceiptRecords(
      entries: try ReceiptTable.entries(from: 0, in: &database), logged: logged,
      head: try ReceiptTable.head(in: &database), copy: copy, databasePath: layout.database,
      logPath: layout.receiptLog, headPath: layout.receiptHead)
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
