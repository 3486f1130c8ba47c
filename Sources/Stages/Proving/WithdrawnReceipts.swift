public import Hashing
public import PipelineModel
public import Proof

/// What was withdrawn of the receipts in a ledger. A pure value.
public struct WithdrawnReceipts: Sendable {
  private let withdrawals: [Digest: Withdrawal]

  /// Finds the withdrawals that are leaves of the ledger, each behind the receipt that it is of. O(n).
  /// - Parameter keys: the keys whose signatures count.
  public init(_ entries: [ReceiptEntry], keys: [VerifyingKey]) {
    var withdrawals: [Digest: Withdrawal] = [:]
    var known: Set<Digest> = []
    for entry in entries {
      guard let leaf = entry.leaf else { continue }
      known.insert(leaf)
      guard Withdrawal.isStated(in: entry.path),
        MerkleTree.leaf(Array(entry.path.utf8)) == leaf,
        let withdrawal = Withdrawal(entry.path, keys: keys), known.contains(withdrawal.receipt)
      else { continue }
      withdrawals[withdrawal.receipt] = withdrawal
    }
    self.withdrawals = withdrawals
  }

  /// The withdrawal of a receipt; nil where it was not withdrawn.
  public subscript(receipt: Digest) -> Withdrawal? { withdrawals[receipt] }
}

extension [ReceiptEntry] {
  /// The receipts among the entries of a ledger, without withdrawals. O(n).
  public var receipts: [ReceiptEntry] { filter { !Withdrawal.isStated(in: $0.path) } }

  /// The last entry at each path. O(n).
  public var latest: [ExactText: ReceiptEntry] {
    Dictionary(map { (ExactText($0.path), $0) }, uniquingKeysWith: { $1 })
  }
}

/// Withdraws receipts: says in the ledger that they were taken away on purpose.
public struct WithdrawalDesk: Sendable {
  private let clerk: LedgerClerk
  private let key: SigningKey

  /// Signs with `key`, which lies in `keys`.
  public init(_ ledger: any ReceiptLedger & RunLog, keys: KeyFolder, key: SigningKey) {
    clerk = LedgerClerk(ledger, runs: ledger, keys: keys)
    self.key = key
  }

  /// Adds a withdrawal to the ledger, and signs its head. O(n).
  public func add(_ withdrawal: Withdrawal, now: Double) throws(StageError) {
    let text = withdrawal.signed(by: key)
    // What it says lies nowhere but in the ledger, and so it stands in the place of its path.
    try clerk.add(text, at: text, signedBy: key, now: now)
  }
}
