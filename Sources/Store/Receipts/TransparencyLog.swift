import PipelineModel
package import Platform

/// The append-only list of all receipts. Every method may be called from any thread and is durable
/// on return.
package struct TransparencyLog: Sendable {
  let database: SharedDatabase
  /// The files beside the database.
  let files: ReceiptLog
  private static let writing = "record a receipt in"

  /// Appends receipts and the signed head of the resulting tree in one transaction, so that every
  /// receipt is under a head that a later deletion or change contradicts.
  /// - Parameters:
  ///   - leaf: the leaf hash of a receipt's bytes; nil to add none.
  ///   - path: its path, for people.
  ///   - known: the head under which the caller knows the list and its files.
  ///   - decide: returns what is added; nil to change nothing.
  package func update(
    adding leaf: Digest?, at path: String, knowing known: ReceiptHead?,
    _ decide: @Sendable (ReceiptGrowth) -> ReceiptUpdate?
  ) throws(SpoolError) {
    try database.with { (database) throws(SpoolError) in
      let isChanged = try database.transaction(to: Self.writing) {
        (database) throws(SpoolError) in
        let growth = try growth(by: leaf, at: path, knowing: known, in: &database)
        guard let update = decide(growth) else { return false }
        // After a restored backup, files that are ahead stay as they are.
        if growth.before?.isBehindFiles != true { try files.follow(&database) }
        for entry in update.entries { try ReceiptTable.insert(entry, into: &database) }
        try ReceiptTable.setHead(update.head, in: &database)
        return true
      }
      guard isChanged else { return }
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        try files.follow(&database)
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
    if isKnown { isKnown = try files.isUpToDate(in: &database) }
    return ReceiptGrowth(entry: entry, before: isKnown ? nil : try records(in: &database))
  }

  /// The receipts written at a path, the oldest first. O(n).
  package func entries(at path: String) throws(SpoolError) -> [ReceiptEntry] {
    try database.with { (database) throws(SpoolError) in
      try ReceiptTable.entries(at: path, in: &database)
    }
  }

  /// The entries that are statements about others, the oldest first: their JSON text takes the
  /// place of a path. O(n).
  package func statements() throws(SpoolError) -> [ReceiptEntry] {
    try database.with { (database) throws(SpoolError) in
      try ReceiptTable.entries(beginningWith: "{", in: &database)
    }
  }

  /// The whole log, for comparison. O(n).
  package func records() throws(SpoolError) -> ReceiptRecords {
    try database.with { (database) throws(SpoolError) in
      while true {
        let head = try ReceiptTable.head(in: &database)
        let records = try records(in: &database)
        // A concurrent writer extends the files as well, but later.
        if records.head == head { return records }
      }
    }
  }

  private func records(in database: inout Database) throws(SpoolError) -> ReceiptRecords {
    // The files follow the database: read first, they are never ahead.
    let (logged, copy) = (files.read(), files.head())
    return ReceiptRecords(
      entries: try ReceiptTable.entries(in: &database), logged: logged,
      head: try ReceiptTable.head(in: &database), copy: copy, databasePath: files.layout.database,
      logPath: files.layout.receiptLog, headPath: files.layout.receiptHead)
  }

  /// Restores the log under a signed head, with the files beside the database. O(n).
  /// - Parameters:
  ///   - entries: all receipts under the head, in order.
  ///   - head: its signature has been verified.
  package func restore(
    _ entries: [ReceiptEntry], under head: ReceiptHead
  ) throws(SpoolError) {
    try database.with { (database) throws(SpoolError) in
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        try ReceiptTable.removeAll(in: &database)
        for entry in entries { try ReceiptTable.insert(entry, into: &database) }
        try ReceiptTable.setHead(head, in: &database)
        try ReceiptTable.setLog(ReceiptLog.State(lines: 0, byteCount: 0), in: &database)
      }
      try database.transaction(to: Self.writing) { (database) throws(SpoolError) in
        try files.follow(&database)
      }
    }
  }
}

/// The input of an update of the log.
package struct ReceiptGrowth: Sendable {
  /// The entry to append; nil if it is in the list already, or none is to be added.
  package let entry: ReceiptEntry?
  /// The whole log; nil if every part is as under the head that the caller knows.
  package let before: ReceiptRecords?
}

/// The entries appended to the log.
package struct ReceiptUpdate: Sendable {
  package let entries: [ReceiptEntry]
  /// The head over all entries.
  package let head: ReceiptHead

  package init(_ entries: [ReceiptEntry], under head: ReceiptHead) {
    self.entries = entries
    self.head = head
  }
}

/// The signed tree head.
package struct ReceiptHead: Hashable, Sendable {
  /// Number of leaves.
  package let size: Int
  package let root: Digest
  /// The signed envelope, as in a file.
  package let text: String

  package init(size: Int, root: Digest, text: String) {
    self.size = size
    self.root = root
    self.text = text
  }
}

/// An entry of the log.
package struct ReceiptEntry: Hashable, Sendable {
  /// Position, from 0.
  package let position: Int
  /// The leaf hash; nil if the stored text is none.
  package let leaf: Digest?
  /// The path at the time of writing.
  package let path: String
  /// Position for people, from 1.
  package var number: Int { position == .max ? .max : position + 1 }

  package init(position: Int, leaf: Digest?, path: String) {
    self.position = position
    self.leaf = leaf
    self.path = path
  }
}

/// The log as the database and its files have it.
package struct ReceiptRecords: Sendable {
  /// The database's entries, by position.
  package let entries: [ReceiptEntry]
  /// The log file's entries, line by line.
  package let logged: [ReceiptEntry]
  /// The signed head in the database; nil if there is none.
  package let head: ReceiptHead?
  /// The text of the signed head file; nil if there is none.
  package let copy: String?
  package let databasePath: String
  package let logPath: String
  package let headPath: String

  /// Whether the log file has more receipts than the database: it was restored from a backup.
  package var isBehindFiles: Bool { logged.count > entries.count }

  package init(
    entries: [ReceiptEntry], logged: [ReceiptEntry], head: ReceiptHead?, copy: String?,
    databasePath: String, logPath: String, headPath: String
  ) {
    self.entries = entries
    self.logged = logged
    self.head = head
    self.copy = copy
    self.databasePath = databasePath
    self.logPath = logPath
    self.headPath = headPath
  }
}
