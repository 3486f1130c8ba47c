public import Hashing

/// The list of all receipts that were ever written, to which one is only added. Every method may be
/// called from any thread and is durable on return.
public protocol ReceiptLedger: Sendable {
  /// Adds a receipt at the end, unless it is there.
  /// - Parameters:
  ///   - leaf: the hash of its bytes as a leaf of the tree.
  ///   - path: where it lies, for people.
  func append(receipt leaf: Digest, at path: String) throws(StoreError)

  /// The leaves of all receipts, in the order in which they were added.
  func receiptLeaves() throws(StoreError) -> [Digest]
}
