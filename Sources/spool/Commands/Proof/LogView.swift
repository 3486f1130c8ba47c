import PipelineModel
import Platform
import Proof
import Receipts
import Stages
import Store

/// The store's knowledge of receipts, for commands that verify some.
struct LogView {
  /// Names of the time stamps still awaited, by receipt digest.
  let awaited: [Digest: Set<String>]
  /// The log's path.
  let path: String
  /// Inconsistencies within the log.
  let findings: [LogAudit.Finding]

  /// The path of each receipt when it was written.
  private let homes: [Digest: String]
  /// The last receipt written at each path.
  private let latest: [ExactText: ReceiptEntry]
  private let own: Set<String>
  let isEmpty: Bool
  /// The keys that signed its heads.
  let signers: [VerifyingKey]
  private let isNamed: Bool
  private let store: DiskStore
  /// Describes the other processes that use the store.
  var others: [String] { store.othersInStore }
  /// The withdrawn receipts.
  private let withdrawn: WithdrawnReceipts

  /// - Parameters:
  ///   - path: the store's folder.
  ///   - keys: the keys trusted to sign heads.
  ///   - own: the local signing key and its predecessors, one of which signed the heads, whatever
  ///     the state of its private part.
  ///   - isNamed: whether the user named the store, and thus expects every receipt in it.
  /// - Returns: nil if there is no store.
  static func find(
    at path: String, keys: [VerifyingKey], own: [VerifyingKey], isNamed: Bool
  ) throws(SpoolError) -> LogView? {
    guard DiskStore.isThere(at: path) else { return nil }
    return try LogView(DiskStore(reading: path), keys, own, isNamed)
  }

  private init(
    _ store: DiskStore, _ keys: [VerifyingKey], _ own: [VerifyingKey], _ isNamed: Bool
  ) throws(SpoolError) {
    self.isNamed = isNamed
    self.store = store
    path = store.path
    let records = try store.receipts.records().caughtUp(keys: keys)
    isEmpty = records.entries.isEmpty && records.head == nil
    let entries = records.entries.receipts
    withdrawn = WithdrawnReceipts(records.entries, keys: keys)
    homes = Dictionary(
      entries.compactMap { entry in entry.leaf.map { ($0, entry.path) } },
      uniquingKeysWith: { $1 })
    latest = entries.latest
    let audit = LogAudit(records, keys: keys)
    findings = audit.findings
    signers = audit.signers
    self.own = Set((own + signers).map(\.id.hex))
    var awaited: [Digest: Set<String>] = [:]
    for stamp in try store.stamps.awaited() {
      let token = stamp.token.split(separator: "/").last.map(String.init) ?? stamp.token
      awaited[stamp.receipt, default: []].insert(token)
    }
    self.awaited = awaited
  }

  /// Looks receipts up in the log. Receipts signed with a local key must be in it, and all if the
  /// user named the store; others may be in another log. Each path must hold the last receipt
  /// written there, links resolved. O(receipts) plus one status call a folder.
  func look(for receipts: [VerifiedReceipt]) -> [VerifiedReceipt] {
    var folders: [String: [String]] = [:]
    return receipts.map { receipt in
      var receipt = receipt
      guard let leaf = receipt.leaf else { return receipt }
      let home = homes[leaf]
      if isNamed || receipt.keyID.map(own.contains) ?? false {
        let run = home == nil ? receipt.run.flatMap { try? store.runs.run(named: $0) } : nil
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

  /// The receipts written at or below a folder that no longer exist. A found receipt was moved; a
  /// path that holds another receipt is reported with that one. O(receipts in the log).
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

  /// The withdrawals of the found receipts, and of the missing ones last written at or below a
  /// folder. O(receipts in the log).
  func withdrawals(below folder: String, among found: [VerifiedReceipt]) -> [Withdrawal] {
    let leaves = Set(found.compactMap(\.leaf)).union(written(below: folder).compactMap(\.leaf))
    return leaves.compactMap { withdrawn[$0] }.sorted { $0.path < $1.path }
  }

  /// The last receipt written at each path at or below a folder.
  private func written(below folder: String) -> [ReceiptEntry] {
    let starts = ResolvedPath.ways(to: folder).map { $0 + "/" }
    return latest.values.filter { entry in
      starts.contains { entry.path.utf8.starts(with: $0.utf8) }
    }
  }
}

/// The damage of a store's transparency log, and its repair.
struct LogRepair {
  /// Deviations from what was signed.
  let findings: [InspectionFinding]
  /// The recoverable state; nil if nothing is damaged or no state leads to a signed head.
  let mending: LogRecovery?
  /// The repairs.
  let actions: [RepairAction]

  /// - Parameter keys: the keys trusted to sign heads.
  init(_ records: ReceiptRecords, keys: [VerifyingKey]) {
    let audit = LogAudit(records, keys: keys)
    let mending = audit.findings.isEmpty ? nil : LogRecovery(records, keys: keys)
    self.mending = mending
    let advice = audit.wayOut(keys: keys)
    findings = audit.findings.map {
      InspectionFinding(log: $0.name, problem: $0.problem, advice: advice)
    }
    guard let mending else {
      actions = []
      return
    }
    let source = mending.source == .log ? records.logPath : records.databasePath
    let receipts = mending.entries.receipts.count
    let withdrawn = mending.entries.count - receipts
    let signed =
      Count.of(receipts, "receipt")
      + (withdrawn == 0 ? "" : " and \(Count.of(withdrawn, "withdrawal"))")
    let back = RepairAction(
      what: "put the ledger back as it was signed, with \(signed), from \(source)",
      path: records.databasePath)
    let kept = Set(mending.entries)
    let dropped = records.entries.filter { !kept.contains($0) && $0.leaf != nil }
    actions =
      [back]
      + dropped.map { entry in
        RepairAction(
          what: "take it out of the ledger: no head was signed over it; if it is yours, "
            + "spool run of its pipeline on its recording puts it in again", path: entry.path)
      }
  }
}
