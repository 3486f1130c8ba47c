import PipelineModel
package import Platform
package import Proof
package import Store

/// The withdrawals in a transparency log. A pure value.
package struct WithdrawnReceipts: Sendable {
  private let withdrawals: [Digest: Withdrawal]

  /// Finds the withdrawals, each after its receipt. O(n).
  /// - Parameter keys: the keys whose signatures count.
  package init(_ entries: [ReceiptEntry], keys: [VerifyingKey]) {
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

  /// The withdrawal of a receipt; nil if there is none.
  package subscript(receipt: Digest) -> Withdrawal? { withdrawals[receipt] }
}

extension [ReceiptEntry] {
  /// The receipts among the entries, without withdrawals. O(n).
  package var receipts: [ReceiptEntry] { filter { !Withdrawal.isStated(in: $0.path) } }

  /// The last entry at each path. O(n).
  package var latest: [ExactText: ReceiptEntry] {
    Dictionary(map { (ExactText($0.path), $0) }, uniquingKeysWith: { $1 })
  }
}

/// Withdraws receipts: records in the transparency log that they were removed on purpose.
package struct WithdrawalWriter: Sendable {
  private let signer: LogSigner
  private let key: SigningKey

  package init(_ store: DiskStore, keys: KeyFolder, key: SigningKey) {
    signer = LogSigner(store, keys: keys)
    self.key = key
  }

  /// Appends a withdrawal and signs the head. O(n).
  package func add(_ withdrawal: Withdrawal, now: Double) throws(SpoolError) {
    let text = withdrawal.signed(by: key)
    // Its text exists only in the log, in place of a path.
    try signer.add(text, at: text, signedBy: key, now: now)
  }
}
