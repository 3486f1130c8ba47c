public import PipelineModel
public import Proof

extension LedgerAudit {
  /// Why nothing is added to the ledger and nothing said of it; nil where it is as it was signed.
  /// - Parameter keys: the keys whose signatures count.
  public func refusal(keys: [VerifyingKey]) -> StageError? {
    guard let first = findings.first else { return nil }
    let more = findings.count - 1
    let advice =
      if signers.isEmpty, records.head != nil {
        "if the key that signed it is to be trusted here, spool key import its public part"
      } else if LedgerMending(records, keys: keys) == nil {
        "spool check names all that is wrong; only a backup may lead back (spool restore), else "
          + "what comes needs another store (--store)"
      } else {
        "spool check names all that is wrong; stop whatever works in the store (a watch), and spool "
          + "repair puts it back"
      }
    return StageError(
      "the ledger of receipts is not as it was signed",
      reason: "\(first.name): \(first.problem)"
        + (more == 0 ? "" : ", and \(more) more problem\(more == 1 ? "" : "s")"),
      advice: advice, cause: .blocked)
  }
}
