public import Hashing

/// What came of checking one receipt.
public struct VerifiedReceipt: Hashable, Sendable {
  /// Something that is not as it was signed.
  public struct Problem: Hashable, Sendable, Codable {
    /// What kind of thing it is.
    public enum Kind: String, Hashable, Sendable, Codable {
      /// The receipt cannot be read as one.
      case receipt
      /// The signature does not fit the statement.
      case signature
      /// Somebody signed whose key is not known.
      case key
      /// The statement is not what a receipt says.
      case statement
      /// A stage does not follow from the one before it.
      case chain
      /// A file is missing or holds other bytes.
      case file
      /// A time stamp is not of this receipt, or not by an authority that is trusted.
      case timeStamp = "time-stamp"
      /// The ledger does not have the receipt, or is not as it was signed.
      case ledger
    }

    /// What kind of thing it is.
    public let kind: Kind
    /// The culprit: a file's name, a stage, a key.
    public let name: String
    /// What is wrong with it.
    public let reason: String
  }

  /// Where the receipt lies.
  public let path: String
  /// The name of the key that signed it, as the receipt tells it; nil where it cannot be read.
  public var keyID: String?
  /// The run that it is about; nil where it cannot be read.
  public var run: String?
  /// The names of what came in.
  public var sources: [String] = []
  /// How many stages are chained in it.
  public var stageCount = 0
  /// The plugins that worked on it, by name, each with its version and the beginning of its digest.
  public var plugins: [String: String] = [:]
  /// How many files it vouches for.
  public var fileCount = 0
  /// How many bytes they have.
  public var byteCount = 0
  /// The time stamps beside it that are what they say.
  public var timeStamps: [VerifiedTimeStamp] = []
  /// The names of the time stamps that are not there yet, and are still asked for.
  public var awaitedStamps: [String] = []
  /// The hash of the receipt as a leaf of the ledger's tree; nil where it cannot be read.
  public var leaf: Digest?
  /// Whether the ledger was looked at, and has it; nil where it was not looked at.
  public private(set) var isInLedger: Bool?
  /// Whether the ledger knows it and it was not found.
  public private(set) var isMissing = false
  /// Where it was written, where that is elsewhere than it lies; nil where it is not, or not known.
  public var writtenAs: String?
  /// Everything that is wrong; empty where it is verified.
  public var problems: [Problem] = []

  /// Whether everything is as it was signed, by a key that is trusted.
  public var isSound: Bool { problems.isEmpty }

  init(path: String) { self.path = path }

  /// A receipt that the ledger of a store knows, and that is not where it was written.
  public init(missingAt path: String, knownTo store: String) {
    self.path = path
    isInLedger = true
    isMissing = true
    add(
      .ledger, ReceiptSearch.name(of: path),
      "it is missing: the ledger in \(store) says that it was written here; if it was moved, check it "
        + "where it is now")
  }

  /// Notes whether the ledger of a store has it.
  /// - Parameter wayOn: what goes on with its run, where that was cut off.
  public mutating func place(in store: String, isThere: Bool, wayOn: String?) {
    isInLedger = isThere
    guard !isThere else { return }
    add(
      .ledger, ReceiptSearch.name(of: path),
      "the ledger in \(store) does not have it: "
        + (wayOn.map { "its run did not come to its end; go on with it: \($0)" }
          ?? "it was changed or put there later, or another store wrote it, to be named with --store")
    )
  }

  /// Notes that the ledger of a store says otherwise of the place where it lies.
  /// - Parameter home: where it was written; nil where it never was, as far as the store knows.
  public mutating func misplace(in store: String, here: String, home: String?) {
    let reason =
      switch home {
      case here: "it is an earlier one, and another receipt was written here after it"
      case let home?: "it was written as \(home), and another receipt belongs here"
      case nil: "it was never written here, and another receipt was"
      }
    add(
      .ledger, ReceiptSearch.name(of: path), "\(reason), as the ledger in \(store) says")
  }

  mutating func add(_ kind: Problem.Kind, _ name: String, _ reason: String) {
    problems.append(Problem(kind: kind, name: name, reason: reason))
  }
}
