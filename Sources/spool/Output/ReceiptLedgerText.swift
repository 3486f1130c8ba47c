import Proof
import Stages

/// What came of looking for receipts in the ledger.
struct ReceiptLedgerText {
  private let ledger: LedgerView?
  private let receipts: [VerifiedReceipt]
  private let isAsked: Bool

  /// - Parameters:
  ///   - ledger: the store's; nil where it was not looked at.
  ///   - isAsked: whether it would have been looked at, had there been a store.
  init(_ ledger: LedgerView?, _ receipts: [VerifiedReceipt], isAsked: Bool) {
    self.ledger = ledger
    self.receipts = receipts
    self.isAsked = isAsked
  }

  private var looked: Int { receipts.count { $0.isInLedger != nil } }

  /// What is wrong with it; and, unless only that is wanted, what was looked at.
  func lines(isQuiet: Bool) -> [String] {
    guard let ledger else {
      return isQuiet ? [] : ["ledger: not checked\(isAsked ? " (no store here)" : "")"]
    }
    if !ledger.findings.isEmpty {
      return BrokenText.lines(
        of: "the ledger in \(ledger.path)",
        ledger.findings.map { (Format.visible($0.name), $0.problem) })
    }
    if isQuiet { return [] }
    let included = receipts.count { $0.isInLedger == true }
    let others = receipts.count - looked
    return [
      "ledger: as it was signed, with \(Count.of(included, "receipt")) of these"
        + (others > 0 ? "; \(Count.of(others, "receipt")) signed elsewhere not looked for" : "")
    ]
  }

  /// The same as `--json` shows it.
  var line: Line {
    Line(
      ledger: ledger.map { $0.path }, checked: ledger != nil, receipts: looked,
      problems: ledger?.findings.map { Line.Problem(name: $0.name, reason: $0.problem) } ?? [])
  }

  /// One line of `--json`.
  struct Line: Encodable {
    /// Something that is wrong.
    struct Problem: Encodable {
      let name: String
      let reason: String
    }

    let ledger: String?
    let checked: Bool
    let receipts: Int
    let problems: [Problem]
  }
}
