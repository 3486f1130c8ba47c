import PipelineModel
package import Platform

extension DiskStore: TransparencyLog {
  private static let writing = "record a receipt in"

  private var receiptLog: ReceiptLog { ReceiptLog(layout: layout, records: records) }

  /// Appends receipts and the head over all in one transaction, then to the files beside the
  /// database. The files first catch up, so that they are never more than one receipt behind.
  package func update(
    adding leaf: Digest?, at path: String, knowing known: ReceiptHead?,
    _ decide: @Sendable (ReceiptGrowth) -> ReceiptUpdate?
  ) throws(SpoolError) {
    try withDatabase { (database) throws(SpoolError) in
      let isChanged = try database.transaction(to: Self.writing) {
        (database) throws(SpoolError) in
        let growth = try growth(by: leaf, at: path, knowing: known, in: &database)
        guard let update = decide(growth) else { return false }
        // After a restored backup, files that are ahead stay as they are.
        if growth.before?.isBehindFiles != true { try receiptLog.follow(&database) }
        for entry in update.entries { try ReceiptTable.insert(entry, into: &database) }
        try ReceiptTable.setHead(update.head, in: &database)
        return true
      }
      guard isChanged else { return }
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        try receiptLog.follow(&database)
      }
    }
  }

  private func growth(
    by leaf: Digest?, at path: String, knowing known: ReceiptHead?, in database: inout Database
  ) throws(SpoolError) -> ReceiptGrowth {
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

  /// The receipts written at a path, the oldest first. O(n).
  package func receipts(at path: String) throws(SpoolError) -> [ReceiptEntry] {
    try withDatabase { (database) throws(SpoolError) in
      try ReceiptTable.entries(at: path, in: &database)
    }
  }

  /// The entries that are statements about others, the oldest first. O(n).
  package func statements() throws(SpoolError) -> [ReceiptEntry] {
    try withDatabase { (database) throws(SpoolError) in
      try ReceiptTable.entries(beginningWith: "{", in: &database)
    }
  }

  /// The whole log. O(n).
  package func receiptRecords() throws(SpoolError) -> ReceiptRecords {
    try withDatabase { (database) throws(SpoolError) in
      while true {
        let head = try ReceiptTable.head(in: &database)
        let records = try receiptRecords(in: &database)
        // A concurrent writer extends the files as well, but later.
        if records.head == head { return records }
      }
    }
  }

  private func receiptRecords(in database: inout Database) throws(SpoolError) -> ReceiptRecords {
    // The files follow the database: read first, they are never ahead.
    let (logged, copy) = (receiptLog.read(), receiptLog.head())
    return ReceiptRecords(
      entries: try ReceiptTable.entries(in: &database), logged: logged,
      head: try ReceiptTable.head(in: &database), copy: copy, databasePath: layout.database,
      logPath: layout.receiptLog, headPath: layout.receiptHead)
  }

  /// Restores the log under a signed head, in one transaction, then the files. After an
  /// interruption the files follow with the next receipt or repair.
  package func restore(
    _ entries: [ReceiptEntry], under head: ReceiptHead
  ) throws(SpoolError) {
    try withDatabase { (database) throws(SpoolError) in
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        try ReceiptTable.removeAll(in: &database)
        for entry in entries { try ReceiptTable.insert(entry, into: &database) }
        try ReceiptTable.setHead(head, in: &database)
        try ReceiptTable.setLog(ReceiptLog.State(lines: 0, byteCount: 0), in: &database)
      }
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        try receiptLog.follow(&database)
      }
    }
  }
}
