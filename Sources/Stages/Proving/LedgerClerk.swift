internal import Synchronization
import Hashing
import PipelineModel
import Proof

/// Who adds receipts to the ledger and signs its head: it remembers the tree's edge, so that the next
/// receipt costs no look at all that came before.
final class LedgerClerk: Sendable {
  private struct Memory {
    var head: ReceiptHead
    var tree: MerkleFrontier
  }

  private let ledger: any ReceiptLedger
  private let memory = Mutex<Memory?>(nil)

  init(_ ledger: any ReceiptLedger) { self.ledger = ledger }

  /// Adds a receipt, unless it is there.
  /// - Parameters:
  ///   - text: the receipt, byte for byte.
  ///   - now: the time, in seconds since 1970.
  func add(
    _ text: String, at path: String, signedBy key: SigningKey, now: Double
  ) throws(StoreError) {
    let before = memory.withLock { $0 }
    let (known, head) = (before?.tree, before?.head)
    let after = Mutex<Memory?>(nil)
    try ledger.append(
      receipt: MerkleTree.leaf(Array(text.utf8)), at: path, knowing: head
    ) { growth in
      guard let tree = Self.tree(growth, known) else { return nil }
      let head = TreeHead(size: tree.size, root: tree.root, time: now)
      let signed = ReceiptHead(size: tree.size, root: tree.root, text: head.signed(by: key))
      after.withLock { $0 = Memory(head: signed, tree: tree) }
      return signed
    }
    if let after = after.withLock({ $0 }) {
      memory.withLock { memory in
        if memory.map({ $0.tree.size < after.tree.size }) ?? true { memory = after }
      }
    }
  }

  /// The tree as it is now; nil where it does not continue the one that was signed.
  private static func tree(_ growth: ReceiptGrowth, _ known: MerkleFrontier?) -> MerkleFrontier? {
    switch growth {
    case .one(let leaf):
      var tree = known
      tree?.append(leaf)
      return tree
    case .all(let leaves, let since):
      if let since {
        guard since.size <= leaves.count,
          MerkleFrontier(leaves: leaves.prefix(since.size)).root == since.root
        else { return nil }
      }
      return MerkleFrontier(leaves: leaves)
    }
  }
}
