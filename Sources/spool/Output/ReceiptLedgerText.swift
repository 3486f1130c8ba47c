import Hashing
import Proof
import Stages

/// What came of looking for receipts in the ledger.
struct ReceiptLedgerText {
  private let ledger: LedgerView?
  private let receipts: [VerifiedReceipt]
  private let isAsked: Bool
  private let withdrawals: [Withdrawal]

  /// - Parameters:
  ///   - ledger: the store's; nil where it was not looked at.
  ///   - withdrawals: of receipts that were looked for.
  ///   - isAsked: whether it would have been looked at, had there been a store.
  init(
    _ ledger: LedgerView?, _ receipts: [VerifiedReceipt], withdrawals: [Withdrawal], isAsked: Bool
  ) {
    self.withdrawals = withdrawals
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
    if ledger.isEmpty { return ["ledger: empty, nothing was ever signed in it"] }
    return withdrawals.map(Self.line) + [
      "ledger: as it was signed, with \(Count.of(included, "receipt")) of these"
        + (others > 0 ? "; \(Count.of(others, "receipt")) signed elsewhere not looked for" : "")
    ] + moved
  }

  /// What lies elsewhere than it was written, most often because its folder was moved.
  private var moved: [String] {
    let homes = receipts.compactMap(\.writtenAs)
    guard let first = homes.first else { return [] }
    let more = homes.count == 1 ? "" : " and \(Count.of(homes.count - 1, "more"))"
    return [Format.visible("moved:  written as \(first)\(more), and not where it lies now")]
  }

  private static func line(_ withdrawal: Withdrawal) -> String {
    Format.visible(
      "withdrawn \(withdrawal.path)   on \(withdrawal.time)   "
        + "key \(withdrawal.signer?.id.hex.prefix(16) ?? "")"
        + (withdrawal.reason.map { ": \($0)" } ?? ""))
  }

  /// The same as `--json` shows it.
  var line: Line {
    Line(
      ledger: ledger.map { $0.path }, checked: ledger != nil, receipts: looked,
      withdrawn: withdrawals.map {
        Line.Withdrawn($0)
      },
      problems: ledger?.findings.map { Line.Problem(name: $0.name, reason: $0.problem) } ?? [])
  }

  /// One line of `--json`.
  struct Line: Encodable {
    /// Something that is wrong.
    struct Problem: Encodable {
      let name: String
      let reason: String
    }

    /// A receipt that was taken away on purpose.
    struct Withdrawn: Encodable {
      private let receipt: String
      private let time: String
      private let key: String?
      private let reason: String?

      init(_ withdrawal: Withdrawal) {
        receipt = withdrawal.path
        time = withdrawal.time
        key = withdrawal.signer?.id.hex
        reason = withdrawal.reason
      }
    }

    let ledger: String?
    let checked: Bool
    let receipts: Int
    let withdrawn: [Withdrawn]
    let problems: [Problem]
  }
}
