public import Hashing

/// The list of all receipts that were ever written, to which one is only added. Every method may be
/// called from any thread and is durable on return.
public protocol ReceiptLedger: Sendable {
  /// Adds receipts at the end, and with them the signed head of the list that they give: in one
  /// transaction, so that there is never a receipt without a head over it, and whoever deletes or
  /// changes one later contradicts the head.
  /// - Parameters:
  ///   - leaf: the hash of a receipt's bytes as a leaf of the tree; nil where none is to be added.
  ///   - path: where it lies, for people.
  ///   - known: a head that the caller knows the list under, and all beside it.
  ///   - decide: says what is added, or nil: then nothing is changed.
  func update(
    adding leaf: Digest?, at path: String, knowing known: ReceiptHead?,
    _ decide: @Sendable (ReceiptGrowth) -> ReceiptUpdate?
  ) throws(StoreError)

  /// The receipts that were written at a path, the oldest first. O(n).
  func receipts(at path: String) throws(StoreError) -> [ReceiptEntry]

  /// The entries that are statements about others: their own text, a JSON object, stands in the place
  /// of a path. The oldest first. O(n).
  func statements() throws(StoreError) -> [ReceiptEntry]

  /// All that is known of the list, to hold one thing against the other. O(n).
  func receiptRecords() throws(StoreError) -> ReceiptRecords

  /// Puts the list back as it was under a signed head, with the files beside the database. O(n).
  /// - Parameters:
  ///   - entries: all receipts under the head, in order.
  ///   - head: the head, whose signature the caller has checked.
  func restore(_ entries: [ReceiptEntry], under head: ReceiptHead) throws(StoreError)
}

/// What a list of receipts is to grow by.
public struct ReceiptGrowth: Sendable {
  /// What comes behind all others; nil where it is in the list already, or nothing is to be added.
  public let entry: ReceiptEntry?
  /// All that is known of the list as it is; nil where every part of it is as it was under the head
  /// that the caller knows.
  public let before: ReceiptRecords?

  /// Describes a growth.
  public init(_ entry: ReceiptEntry?, before: ReceiptRecords?) {
    self.entry = entry
    self.before = before
  }
}

/// What is added to a list of receipts.
public struct ReceiptUpdate: Sendable {
  /// What comes behind those in the list, in order.
  public let entries: [ReceiptEntry]
  /// The head over all.
  public let head: ReceiptHead

  /// Describes an update.
  public init(_ entries: [ReceiptEntry], under head: ReceiptHead) {
    self.entries = entries
    self.head = head
  }
}

/// The head of the tree of receipts, signed.
public struct ReceiptHead: Hashable, Sendable {
  /// How many leaves it is over.
  public let size: Int
  /// The root.
  public let root: Digest
  /// The signed envelope, as a file has it.
  public let text: String

  /// Describes a head.
  public init(size: Int, root: Digest, text: String) {
    self.size = size
    self.root = root
    self.text = text
  }
}

/// One receipt in the list.
public struct ReceiptEntry: Hashable, Sendable {
  /// Its place, from 0.
  public let position: Int
  /// The hash of its bytes as a leaf; nil where what is there is no hash.
  public let leaf: Digest?
  /// Where it lay when it was written.
  public let path: String
  /// Its place for people, from 1.
  public var number: Int { position == .max ? .max : position + 1 }

  /// Describes a receipt.
  public init(position: Int, leaf: Digest?, path: String) {
    self.position = position
    self.leaf = leaf
    self.path = path
  }
}

/// The list of receipts as the database has it, and what lies beside that.
public struct ReceiptRecords: Sendable {
  /// What the database says, by place.
  public let entries: [ReceiptEntry]
  /// What the log beside it says, line by line.
  public let logged: [ReceiptEntry]
  /// The signed head in the database; nil where there is none.
  public let head: ReceiptHead?
  /// The text of the signed head beside it; nil where there is none.
  public let copy: String?
  /// The path of the database.
  public let databasePath: String
  /// The path of the log.
  public let logPath: String
  /// The path of the head beside the database.
  public let headPath: String

  /// Whether the log has receipts that the database does not have: it came back from a backup.
  public var isBehindFiles: Bool { logged.count > entries.count }

  /// Collects what is known.
  public init(
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
