import Glibc
import Hashing
import PipelineModel
import Proof
import Stages
import Store

/// What the store knows of receipts, for a command that checks some.
struct LedgerView {
  /// The names of the time stamps that are still asked for, by the digest of the receipt.
  let awaited: [Digest: Set<String>]
  /// Where it lies.
  let path: String
  /// What is wrong with the ledger in itself.
  let findings: [LedgerAudit.Finding]

  private let leaves: Set<Digest>
  /// The last receipt that was written at each path.
  private let latest: [String: Digest]
  private let own: Set<String>
  private let isNamed: Bool

  /// - Parameters:
  ///   - path: the store's folder.
  ///   - keys: those whose signatures of heads count.
  ///   - own: the key that is signed with here, and those that were before it.
  ///   - isNamed: whether the user named the store, and so means that every receipt is in it.
  /// - Returns: nil where there is no store.
  static func find(
    at path: String, keys: [VerifyingKey], own: [VerifyingKey], isNamed: Bool
  ) throws(StoreError) -> LedgerView? {
    guard DiskStore.isThere(at: path) else { return nil }
    return try LedgerView(DiskStore(reading: path), keys, own, isNamed)
  }

  private init(
    _ store: DiskStore, _ keys: [VerifyingKey], _ own: [VerifyingKey], _ isNamed: Bool
  ) throws(StoreError) {
    self.own = Set(own.map(\.id.hex))
    self.isNamed = isNamed
    path = store.path
    let records = try store.receiptRecords()
    leaves = Set(records.entries.compactMap(\.leaf))
    latest = Dictionary(
      records.entries.compactMap { entry in entry.leaf.map { (entry.path, $0) } },
      uniquingKeysWith: { $1 })
    findings = LedgerAudit(records, keys: keys).findings
    var awaited: [Digest: Set<String>] = [:]
    for stamp in try store.awaitedStamps() {
      let token = stamp.token.split(separator: "/").last.map(String.init) ?? stamp.token
      awaited[stamp.receipt, default: []].insert(token)
    }
    self.awaited = awaited
  }

  /// Looks for the receipts in the ledger: those that were signed here have to be in it, and all, where
  /// the user named the store. A stranger's are in another ledger.
  func look(for receipts: [VerifiedReceipt]) -> [VerifiedReceipt] {
    receipts.map { receipt in
      var receipt = receipt
      guard let leaf = receipt.leaf, isNamed || receipt.keyID.map(own.contains) ?? false else {
        return receipt
      }
      receipt.place(in: path, isThere: leaves.contains(leaf))
      return receipt
    }
  }

  /// The receipts that were written in a folder or below it, and are there no more; one that is among
  /// those found was moved, and is not missed. O(receipts of the ledger).
  func missing(below folder: String, among found: [VerifiedReceipt]) -> [VerifiedReceipt] {
    let prefix = ResolvedPath.of(folder) + "/"
    let present = Set(found.compactMap(\.leaf))
    return latest.filter { path, leaf in
      let isHere = path.hasPrefix(prefix) && !present.contains(leaf)
      return unsafe isHere && access(path, F_OK) != 0
    }.keys.sorted().map { VerifiedReceipt(missingAt: $0, knownTo: self.path) }
  }
}
