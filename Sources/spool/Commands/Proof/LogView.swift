import PipelineModel
import Platform
import Proof
import Receipts
import Stages
import Store

/// The store's knowledge of receipts, for verification.
struct LogView {
  /// Names of the time stamps still awaited, by receipt digest.
  private(set) var awaited: [Digest: Set<String>] = [:]
  /// Inconsistencies within the log.
  let findings: [Deviation]
  /// Whether nothing is wrong with it but that its signer's key is not known here.
  let isUntold: Bool
  /// The keys that signed its heads.
  let signers: [VerifyingKey]
  let isEmpty: Bool

  /// The path of each receipt when it was written.
  private let homes: [Digest: String]
  /// The last receipt written at each path.
  private let latest: [ExactText: ReceiptEntry]
  private let withdrawals: [Digest: Withdrawal]
  private let own: Set<String>
  private let isNamed: Bool
  private let store: DiskStore

  /// The store's folder.
  var path: String { store.path }
  /// Describes the other processes that use the store.
  var others: [String] { store.othersInStore }

  /// Nil if there is no store.
  /// - Parameters:
  ///   - path: the store's folder.
  ///   - keys: the keys trusted to sign heads.
  ///   - own: the local signing key and its predecessors, one of which signed the heads, whatever
  ///     the state of its private part.
  ///   - isNamed: whether the user named the store, and thus expects every receipt in it.
  init?(
    at path: String, keys: [VerifyingKey], own: [VerifyingKey], isNamed: Bool
  ) throws(SpoolError) {
    guard DiskStore.isThere(at: path) else { return nil }
    self.isNamed = isNamed
    store = try DiskStore(reading: path)
    let audit = LogAudit(try store.receipts.records(), keys: keys)
    findings = audit.findings
    isUntold = audit.isUntold
    signers = audit.signers
    self.own = Set((own + signers).map(\.id.hex))
    isEmpty = audit.records.entries.isEmpty && audit.records.head == nil
    withdrawals = audit.records.entries.withdrawals(signedBy: keys)
    let entries = audit.records.entries.receipts
    homes = Dictionary(
      entries.compactMap { entry in entry.leaf.map { ($0, entry.path) } },
      uniquingKeysWith: { $1 })
    latest = entries.latest
    for stamp in try store.stamps.awaited() {
      let token = stamp.token.pathNames.last ?? stamp.token
      awaited[stamp.receipt, default: []].insert(token)
    }
  }

  /// Looks receipts up in the log. Receipts signed with a local key must be in it, and all if the
  /// user named the store; others may be in another log. Each path must hold the last receipt
  /// written there, links resolved. O(receipts) plus one status call a folder.
  func look(for receipts: [VerificationResult]) -> [VerificationResult] {
    var folders: [ExactText: [String]] = [:]
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

  /// The receipts written at or below these folders that no longer exist. A found receipt was moved; a
  /// path that holds another receipt is reported with that one. O(receipts in the log).
  func missing(below folders: [String], among found: [VerificationResult]) -> [VerificationResult] {
    let present = Set(found.compactMap(\.leaf))
    var ways: [ExactText: [String]] = [:]
    let taken = Set(
      found.flatMap { ResolvedPath.ways(toFile: $0.path, &ways).map { ExactText($0) } })
    return written(below: folders).filter { entry in
      guard let leaf = entry.leaf else { return false }
      return !present.contains(leaf) && !taken.contains(ExactText(entry.path))
        && withdrawals[leaf] == nil
    }.map(\.path).sorted().map { VerificationResult(missingAt: $0, knownTo: path) }
  }

  /// Where receipts were written in the folders that lie at `places` now, and did not come along:
  /// neither that place nor the new one has them. Sorted. O(receipts in the log × folders moved).
  func leftBehind(
    from places: [String], among found: [VerificationResult]
  ) -> [String] {
    var moves: [String: String] = [:]
    for receipt in found {
      guard let home = receipt.writtenAs else { continue }
      let path = FilePath.absolute(receipt.path)
      for place in places.map(Self.folder(of:)) where path.hasPrefix(place + "/") {
        let rest = path.dropFirst(place.count)
        if home.hasSuffix(rest) { moves[String(home.dropLast(rest.count))] = place }
      }
    }
    guard !moves.isEmpty else { return [] }
    let present = Set(found.compactMap(\.leaf))
    return latest.values.filter { entry in
      guard let leaf = entry.leaf, !present.contains(leaf), withdrawals[leaf] == nil else {
        return false
      }
      return moves.contains { old, new in
        entry.path.utf8.starts(with: "\(old)/".utf8) && !FilePath.exists(entry.path)
          && !FilePath.exists(new + entry.path.dropFirst(old.count))
      }
    }.map(\.path).sorted()
  }

  /// A place's absolute path; of a receipt, that of its folder.
  private static func folder(of place: String) -> String {
    let path = FilePath.absolute(place)
    if path.hasSuffix(ReceiptSearch.ending) { return FilePath.folder(of: path) }
    return path.hasSuffix("/") ? String(path.dropLast()) : path
  }

  /// The withdrawals of the found receipts, and of the missing ones last written at or below
  /// these folders. O(receipts in the log).
  func withdrawals(below folders: [String], among found: [VerificationResult]) -> [Withdrawal] {
    let leaves = Set(found.compactMap(\.leaf)).union(written(below: folders).compactMap(\.leaf))
    return leaves.compactMap { withdrawals[$0] }.sorted { $0.path < $1.path }
  }

  /// Whether any receipt was written at or below a folder.
  func isAnyWritten(below folder: String) -> Bool { !written(below: [folder]).isEmpty }

  /// The last receipt written at each path at or below these folders.
  private func written(below folders: [String]) -> [ReceiptEntry] {
    let starts = folders.flatMap { ResolvedPath.ways(to: $0).map { $0 + "/" } }
    return latest.values.filter { entry in
      starts.contains { entry.path.utf8.starts(with: $0.utf8) }
    }
  }
}

/// The findings and the recovery of the log for `spool store check` and `spool store repair`.
extension LogAudit {
  var inspectionFindings: [InspectionFinding] {
    let advice = advice
    return findings.map {
      InspectionFinding(log: $0.name, problem: $0.reason, advice: advice, isUntold: isUntold)
    }
  }

  /// What the recovery changes; empty without one.
  var repairActions: [RepairAction] {
    guard let recovery else { return [] }
    let receipts = recovery.entries.receipts.count
    let withdrawn = recovery.entries.count - receipts
    let signed =
      Count.of(receipts, "receipt")
      + (withdrawn == 0 ? "" : " and \(Count.of(withdrawn, "withdrawal"))")
    let back = RepairAction(
      what: "put the ledger back as it was signed, with \(signed), from \(recovery.source)",
      path: records.databasePath)
    let kept = Set(recovery.entries)
    let dropped = records.entries.filter { !kept.contains($0) && $0.leaf != nil }
    return [back]
      + dropped.map { entry in
        RepairAction(
          what: "take it out of the ledger: no head was signed over it; if it is yours, "
            + "spool run of its pipeline on its recording puts it in again", path: entry.path)
      }
  }
}
