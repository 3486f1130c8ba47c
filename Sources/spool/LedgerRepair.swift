import PipelineModel
import Proof
import Stages
import Store

/// What is wrong with a store's ledger of receipts, and what can be done about it.
struct LedgerRepair {
  /// What is not as it was signed.
  let findings: [InspectionFinding]
  /// How it was; nil where nothing is wrong, or nothing leads to a signed head any more.
  let mending: LedgerMending?
  /// What is done about it.
  let actions: [RepairAction]

  /// - Parameter keys: those whose signatures of heads count.
  init(_ records: ReceiptRecords, keys: [VerifyingKey]) {
    let audit = LedgerAudit(records, keys: keys)
    let mending = audit.findings.isEmpty ? nil : LedgerMending(records, keys: keys)
    self.mending = mending
    let advice = audit.wayOut(keys: keys)
    findings = audit.findings.map {
      InspectionFinding(ledger: $0.name, problem: $0.problem, advice: advice)
    }
    guard let mending else {
      actions = []
      return
    }
    let source = mending.witness == .log ? records.logPath : records.databasePath
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
