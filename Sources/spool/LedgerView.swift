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
  private let latest: [ExactText: ReceiptEntry]
  private let own: Set<String>
  /// Whether nothing is in it.
  let isEmpty: Bool
  /// The keys that its heads are signed with.
  let signers: [VerifyingKey]
  private let isNamed: Bool
  private let store: DiskStore
  /// The other processes that work in the store, in words.
  var others: [String] { store.othersInStore }
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
    self.store = store
    path = store.path
    let records = try store.receiptRecords().caughtUp(keys: keys)
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
  /// last receipt that was written there has to lie in it, by whichever links one comes there. O(receipts),
  /// with a look at each folder.
  func look(for receipts: [VerifiedReceipt]) -> [VerifiedReceipt] {
    var folders: [String: [String]] = [:]
    return receipts.map { receipt in
      var receipt = receipt
      guard let leaf = receipt.leaf else { return receipt }
      let home = homes[leaf]
      if isNamed || receipt.keyID.map(own.contains) ?? false {
        let run = home == nil ? receipt.run.flatMap { try? store.run(named: $0) } : nil
        receipt.place(in: path, isThere: home != nil, wayOn: run?.wayOn)
        if home == nil { return receipt }
      }
      let ways = ResolvedPath.ways(toFile: receipt.path, &folders).map { ExactText($0) }
      let last = ways.compactMap { latest[$0] }.max { $0.position < $1.position }
      if let last, last.leaf != leaf {
        receipt.misplace(in: path, here: last.path, home: home)
      } else if let home, !ways.contains(ExactText(home)) {
        receipt.writtenAs = home
      }
      return receipt
    }
  }

  /// The receipts that were written in a folder or below it, and are there no more; one that is among
  /// those found was moved, and where another lies in its place, that is told of that. O(receipts of
  /// the ledger).
  func missing(below folder: String, among found: [VerifiedReceipt]) -> [VerifiedReceipt] {
    let present = Set(found.compactMap(\.leaf))
    var folders: [String: [String]] = [:]
    let taken = Set(
      found.flatMap { ResolvedPath.ways(toFile: $0.path, &folders).map { ExactText($0) } })
    return written(below: folder).filter { entry in
      guard let leaf = entry.leaf else { return false }
      return !present.contains(leaf) && !taken.contains(ExactText(entry.path))
        && withdrawn[leaf] == nil
    }.map(\.path).sorted().map { VerifiedReceipt(missingAt: $0, knownTo: path) }
  }

  /// What was withdrawn of the receipts that were found, and of those that were written last in a
  /// folder or below it and are there no more, by their paths. O(receipts of the ledger).
  func withdrawals(below folder: String, among found: [VerifiedReceipt]) -> [Withdrawal] {
    let leaves = Set(found.compactMap(\.leaf)).union(written(below: folder).compactMap(\.leaf))
    return leaves.compactMap { withdrawn[$0] }.sorted { $0.path < $1.path }
  }

  /// The last receipts that were written at each path in a folder or below it.
  private func written(below folder: String) -> [ReceiptEntry] {
    let starts = ResolvedPath.ways(to: folder).map { $0 + "/" }
    return latest.values.filter { entry in
      starts.contains { entry.path.utf8.starts(with: $0.utf8) }
    }
  }
}
