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

  /// Where each receipt was written.
  private let homes: [Digest: String]
  /// The last receipt that was written at each path.
  private let latest: [String: Digest]
  private let own: Set<String>
  /// Whether nothing is in it.
  let isEmpty: Bool
  /// The keys that its heads are signed with.
  let signers: [VerifyingKey]
  private let isNamed: Bool
  /// What was withdrawn.
  private let withdrawn: WithdrawnReceipts

  /// - Parameters:
  ///   - path: the store's folder.
  ///   - keys: those whose signatures of heads count.
  ///   - own: the key that is signed with here, and those that were before it; the key that the heads
  ///     are signed with is one of them, in whatever state its private part is.
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
    self.isNamed = isNamed
    path = store.path
    let records = try store.receiptRecords()
    isEmpty = records.entries.isEmpty && records.head == nil
    let entries = records.entries.receipts
    withdrawn = WithdrawnReceipts(records.entries, keys: keys)
    homes = Dictionary(
      entries.compactMap { entry in entry.leaf.map { ($0, entry.path) } },
      uniquingKeysWith: { $1 })
    latest = entries.latest
    let audit = LedgerAudit(records, keys: keys)
    findings = audit.findings
    signers = audit.signers
    self.own = Set((own + signers).map(\.id.hex))
    var awaited: [Digest: Set<String>] = [:]
    for stamp in try store.awaitedStamps() {
      let token = stamp.token.split(separator: "/").last.map(String.init) ?? stamp.token
      awaited[stamp.receipt, default: []].insert(token)
    }
    self.awaited = awaited
  }

  /// Looks for the receipts in the ledger: those that were signed here have to be in it, and all, where
  /// the user named the store. A stranger's are in another ledger. Where the ledger knows a place, the
  /// last receipt that was written there has to lie in it. O(receipts), with a look at each folder.
  func look(for receipts: [VerifiedReceipt]) -> [VerifiedReceipt] {
    var folders: [Substring: String] = [:]
    return receipts.map { receipt in
      var receipt = receipt
      guard let leaf = receipt.leaf else { return receipt }
      let home = homes[leaf]
      if isNamed || receipt.keyID.map(own.contains) ?? false {
        receipt.place(in: path, isThere: home != nil)
        if home == nil { return receipt }
      }
      let here = ResolvedPath.ofFile(receipt.path, &folders)
      if let last = latest[here], last != leaf {
        receipt.misplace(in: path, here: here, home: home)
      }
      return receipt
    }
  }

  /// The receipts that were written in a folder or below it, and are there no more; one that is among
  /// those found was moved, and where another lies in its place, that is told of that. O(receipts of
  /// the ledger).
  func missing(below folder: String, among found: [VerifiedReceipt]) -> [VerifiedReceipt] {
    let prefix = ResolvedPath.of(folder) + "/"
    let present = Set(found.compactMap(\.leaf))
    var folders: [Substring: String] = [:]
    let taken = Set(found.map { ResolvedPath.ofFile($0.path, &folders) })
    return latest.filter { path, leaf in
      path.hasPrefix(prefix) && !present.contains(leaf) && !taken.contains(path)
        && withdrawn[leaf] == nil
    }.keys.sorted().map { VerifiedReceipt(missingAt: $0, knownTo: self.path) }
  }

  /// What was withdrawn of the receipts that were found, and of those that were written last in a
  /// folder or below it and are there no more, by their paths. O(receipts of the ledger).
  func withdrawals(below folder: String, among found: [VerifiedReceipt]) -> [Withdrawal] {
    let prefix = ResolvedPath.of(folder) + "/"
    let leaves = Set(found.compactMap(\.leaf))
      .union(latest.filter { $0.key.hasPrefix(prefix) }.values)
    return leaves.compactMap { withdrawn[$0] }.sorted { $0.path < $1.path }
  }
}
