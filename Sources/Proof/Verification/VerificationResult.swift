package import Platform

/// The result of verifying a receipt, a bag or a quote.
package struct VerificationResult: Hashable, Sendable {
  /// A valid time stamp beside a receipt.
  package struct Stamp: Hashable, Sendable {
    /// The token's name, from the receipt's folder.
    package let name: String
    package let stamp: TimeStamp
    /// The certificates' name from the receipt's folder; nil for those named by the user.
    package let certificates: String?
  }

  package let path: String
  /// The signer's key as named by the receipt; nil if unreadable, and for bags.
  package var keyID: String?
  /// Number of a receipt's subjects, or of a bag's payload files.
  package var fileCount = 0
  /// Their bytes.
  package var byteCount = 0
  /// The receipt's valid time stamps.
  package var timeStamps: [Stamp] = []
  /// All faults; empty if it is verified.
  package var problems: [Deviation] = []
  /// Unchecked parts and remarks, which are no faults.
  package var notes: [Deviation] = []

  // Receipts:
  /// The run; nil if unreadable.
  package var run: String?
  /// The names of the inputs.
  package var sources: [String] = []
  /// Stages in its chain.
  package var stageCount = 0
  /// The plugins by name, each with its version and the beginning of its digest.
  package var plugins: [String: String] = [:]
  /// The names of its pending time stamps.
  package var awaitedStamps: [String] = []
  /// Its leaf hash; nil if unreadable.
  package var leaf: Digest?
  /// Whether the transparency log has it; nil if it was not checked.
  package private(set) var isInLog: Bool?
  /// Whether the transparency log has it, but its file is missing.
  package private(set) var isMissing = false
  /// The path at the time of writing, if it differs and is known.
  package var writtenAs: String?

  // Confirmations:
  /// The destination's name; nil if unreadable.
  package var destination: String?
  /// The path of the receipt that it belongs to, from its folder; nil if unreadable.
  package var receiptName: String?
  /// When the last file was confirmed, in ISO 8601; nil if unreadable.
  package var confirmedAt: String?
  /// How many of its files lie where they lay at the destination, and were read.
  package var checkedCount = 0

  // Quotes:
  /// Nil if unreadable.
  package var quote: Quote?
  /// Whether the bundle has words, which are not proven.
  package var hasWords = false

  /// Whether everything is as it was signed, by a trusted key. A bag is complete and valid by RFC
  /// 8493, section 3; a quote's clip is part of an export with a signed root.
  package var isSound: Bool { problems.isEmpty }

  init(path: String) { self.path = path }

  mutating func add(_ name: String, _ reason: String, _ kind: Deviation.Kind? = nil) {
    problems.append(Deviation(name, reason, kind))
  }

  /// Checks the signature of an envelope and reads what it states; nil, with the reason, if it cannot be
  /// read.
  mutating func statement(
    in envelope: Envelope, called name: String, _ keys: [VerifyingKey]
  ) -> JSONValue? {
    keyID = envelope.keyID
    checkSignature(envelope, keys)
    do throws(JSONSyntaxError) {
      return try JSONReader.signedValue(of: envelope.payload)
    } catch {
      add(name, "\(error)", .statement)
      return nil
    }
  }

  /// Checks that an envelope was signed by the key that it names, and that this is a trusted one.
  mutating func checkSignature(_ envelope: Envelope, _ keys: [VerifyingKey]) {
    guard let key = keys.first(where: { $0.id.hex == envelope.keyID }) else {
      // What it says of its key proves nothing: another key may have signed it.
      if !keys.contains(where: { envelope.isSigned(by: $0) }) {
        add(envelope.keyID, "it was not signed by a key that is trusted here", .key)
      } else {
        add(envelope.keyID, "it names another key than the one that signed it", .key)
      }
      return
    }
    if !envelope.isSigned(by: key) {
      add(envelope.keyID, "the signature does not fit the statement: one was changed", .signature)
    }
  }

  mutating func note(_ name: String, _ reason: String) { notes.append(Deviation(name, reason)) }
}

/// What a store's transparency log says of a receipt.
extension VerificationResult {
  private var name: String { ReceiptSearch.name(of: path) }

  /// A receipt in a store's transparency log whose file is missing.
  package init(missingAt path: String, knownTo store: String) {
    self.path = path
    isInLog = true
    isMissing = true
    add(
      name,
      "it is missing: the ledger in \(store) says that it was written here; if it was moved, "
        + "check it where it is now; if it was taken away on purpose, say so: "
        + "\(command: .ledgerWithdraw)", .log)
  }

  /// Records whether a store's transparency log has it.
  /// - Parameter wayOn: the command that resumes its run, if that was interrupted.
  package mutating func place(in store: String, isThere: Bool, wayOn: String?) {
    isInLog = isThere
    guard !isThere else { return }
    add(
      name,
      "the ledger in \(store) does not have it: "
        + (wayOn.map { "its run did not come to its end; go on with it: \($0)" }
          ?? "it was changed or put there later, or another store wrote it, to be named with "
          + "\(option: .store)"),
      .log)
  }

  /// Records that a store's transparency log has another path for it.
  /// - Parameter home: where it was written; nil if it is not in the log.
  package mutating func misplace(in store: String, here: String, home: String?) {
    let reason =
      switch home {
      case here: "it is an earlier one, and another receipt was written here after it"
      case let home?: "it was written as \(home), and another receipt belongs here"
      case nil: "it was never written here, and another receipt was"
      }
    add(name, "\(reason), as the ledger in \(store) says", .log)
  }
}

/// A difference from what was signed, written or declared.
package struct Deviation: Hashable, Sendable, Codable {
  /// What differs in a receipt.
  package enum Kind: String, Hashable, Sendable, Codable {
    /// The file is no receipt.
    case receipt
    /// The signature is invalid.
    case signature
    /// The signer's key is unknown.
    case key
    /// The statement is malformed.
    case statement
    /// A stage does not follow from the one before.
    case chain
    /// A file is missing or changed.
    case file
    /// A time stamp is of another receipt, or by an untrusted authority.
    case timeStamp = "time-stamp"
    /// The transparency log lacks the receipt, or is not as it was signed.
    case log = "ledger"
  }

  /// Nil outside receipts.
  package let kind: Kind?
  /// A file's name or path, a line of a manifest, a stage, a key.
  package let name: String
  package let reason: String

  package init(_ name: String, _ reason: String, _ kind: Kind? = nil) {
    self.kind = kind
    self.name = name
    self.reason = reason
  }
}
