public import PipelineModel
public import Proof

extension LedgerAudit {
  /// What helps where a repair does not; nil where it does, or nothing is wrong. O(n).
  /// - Parameter keys: the keys whose signatures count.
  public func wayOut(keys: [VerifyingKey]) -> String? {
    if findings.isEmpty { return nil }
    if signers.isEmpty, records.head != nil {
      return "if the key that signed it is to be trusted here, spool key import its public part"
    }
    guard LedgerMending(records, keys: keys) == nil else { return nil }
    return "only a backup may lead back (spool restore); without one, keep this store as it is, "
      + "and let what comes go into another (--store)"
  }

  /// Why nothing is added to the ledger and nothing said of it; nil where it is as it was signed.
  /// - Parameter keys: the keys whose signatures count.
  public func refusal(keys: [VerifyingKey]) -> StageError? {
    guard let first = findings.first else { return nil }
    let more = findings.count - 1
    let advice =
      wayOut(keys: keys).map { "spool check names all that is wrong; \($0)" }
      ?? "spool check names all that is wrong; stop whatever works in the store (a watch), and spool "
      + "repair puts it back"
    return StageError(
      "the ledger of receipts is not as it was signed",
      reason: "\(first.name): \(first.problem)"
        + (more == 0 ? "" : ", and \(more) more problem\(more == 1 ? "" : "s")"),
      advice: advice, cause: .blocked)
  }
}
