import Hashing
import PipelineModel
import Proof
import Stages
import Store

/// What the store knows of receipts, for a command that checks some.
struct LedgerView {
  /// The names of the time stamps that are still asked for, by the digest of the receipt.
  let awaited: [Digest: Set<String>]

  /// - Parameter path: the store's folder.
  /// - Returns: nil where there is no store.
  static func find(at path: String) throws(StoreError) -> LedgerView? {
    guard DiskStore.isThere(at: path) else { return nil }
    return try LedgerView(DiskStore(reading: path))
  }

  private init(_ store: DiskStore) throws(StoreError) {
    var awaited: [Digest: Set<String>] = [:]
    for stamp in try store.awaitedStamps() {
      let token = stamp.token.split(separator: "/").last.map(String.init) ?? stamp.token
      awaited[stamp.receipt, default: []].insert(token)
    }
    self.awaited = awaited
  }
}
