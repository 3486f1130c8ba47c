public import Hashing
public import PipelineModel

extension DiskStore: ReceiptLedger {
  private static let writing = "record a receipt in"

  private var receiptLog: ReceiptLog { ReceiptLog(layout: layout, records: records) }

  /// Adds receipts at the end, with the head over all: in one transaction, and then the files beside
  /// the database. Before it, they are brought up to where the database is, so that they are never more
  /// than one receipt behind it.
  public func update(
    adding leaf: Digest?, at path: String, knowing known: ReceiptHead?,
    _ decide: @Sendable (ReceiptGrowth) -> ReceiptUpdate?
  ) throws(StoreError) {
    try withDatabase { (database) throws(StoreError) in
      let isChanged = try database.transaction(to: Self.writing) {
        (database) throws(StoreError) in
        let growth = try growth(by: leaf, at: path, knowing: known, in: &database)
        guard let update = decide(growth) else { return false }
        // Files that are ahead of a database that came back from a backup stay what they are.
        if growth.before?.isBehindFiles != true { try receiptLog.follow(&database) }
        for entry in update.entries { try ReceiptTable.insert(entry, into: &database) }
        try ReceiptTable.setHead(update.head, in: &database)
        return true
      }
      guard isChanged else { return }
      try database.transaction(to: Self.writing) { (database) throws(StoreError) in
        try receiptLog.follow(&database)
      }
    }
  }

  private func growth(
    by leaf: Digest?, at path: String, knowing known: ReceiptHead?, in database: inout Database
  ) throws(StoreError) -> ReceiptGrowth {
    let count = try ReceiptTable.count(in: &database)
    let before = try ReceiptTable.head(in: &database)
    var entry: ReceiptEntry?
    if let leaf, try !ReceiptTable.contains(leaf, in: &database) {
      entry = ReceiptEntry(position: count, leaf: leaf, path: path)
    }
    var isKnown = before != nil && before == known && before?.size == count
    if isKnown { isKnown = try receiptLog.isUpToDate(in: &database) }
    return ReceiptGrowth(entry, before: isKnown ? nil : try receiptRecords(in: &database))
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
      entries: try ReceiptTable.entries(in: &database), logged: logged,
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
}
