import PipelineModel
package import Platform

/// The append-only list of all receipts. Every method may be called from any thread and is durable
/// on return.
package protocol TransparencyLog: Sendable {
  /// Appends receipts and the signed head of the resulting tree in one transaction, so that every
  /// receipt is under a head that a later deletion or change contradicts.
  /// - Parameters:
  /// - leaf: the leaf hash of a receipt's bytes; nil to add none.
  /// - path: its path, for people.
  /// - known: the head under which the caller knows the list and its files.
  /// - decide: returns what is added; nil to change nothing.
  func update(
    adding leaf: Digest?, at path: String, knowing known: ReceiptHead?,
    _ decide: @Sendable (ReceiptGrowth) -> ReceiptUpdate?
  ) throws(SpoolError)

  /// The receipts written at a path, the oldest first. O(n).
  func receipts(at path: String) throws(SpoolError) -> [ReceiptEntry]

  /// The entries that are statements about others, the oldest first: their JSON text takes the
  /// place of a path. O(n).
  func statements() throws(SpoolError) -> [ReceiptEntry]

  /// The whole log, for comparison. O(n).
  func receiptRecords() throws(SpoolError) -> ReceiptRecords

  /// Restores the log under a signed head, with the files beside the database. O(n).
  /// - Parameters:
  /// - entries: all receipts under the head, in order.
  /// - head: its signature has been verified.
  func restore(_ entries: [ReceiptEntry], under head: ReceiptHead) throws(SpoolError)
}

/// The input of an update of the log.
package struct ReceiptGrowth: Sendable {
  /// The entry to append; nil if it is in the list already, or none is to be added.
  package let entry: ReceiptEntry?
  /// The whole log; nil if every part is as under the head that the caller knows.
  package let before: ReceiptRecords?

  package init(_ entry: ReceiptEntry?, before: ReceiptRecords?) {
    self.entry = entry
    self.before = before
  }
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
