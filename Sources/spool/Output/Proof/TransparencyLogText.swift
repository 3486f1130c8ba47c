import Glibc
import PipelineModel
import Platform
import Proof
import Receipts
import Stages
import Store

/// The result of looking receipts up in the transparency log.
struct TransparencyLogText {
  private let log: LogView?
  private let receipts: [VerifiedReceipt]
  private let isAsked: Bool
  private let withdrawals: [Withdrawal]

  /// - Parameters:
  ///   - log: the store's; nil if it was not searched.
  ///   - withdrawals: those of the receipts looked up.
  ///   - isAsked: whether the log was wanted, whether or not there is a store.
  init(
    _ log: LogView?, _ receipts: [VerifiedReceipt], withdrawals: [Withdrawal], isAsked: Bool
  ) {
    self.withdrawals = withdrawals
    self.log = log
    self.receipts = receipts
    self.isAsked = isAsked
  }

  private var looked: Int { receipts.count { $0.isInLedger != nil } }

  /// The problems, and unless `isQuiet`, what was checked.
  func lines(isQuiet: Bool) -> [String] {
    guard let log else {
      return isQuiet ? [] : ["ledger: not checked\(isAsked ? " (no store here)" : "")"]
    }
    if !log.findings.isEmpty {
      return VerifiedText.problems(
        "the ledger in \(log.path)",
        log.findings.map { (Format.visible($0.name), $0.problem) })
    }
    if isQuiet { return [] }
    let included = receipts.count { $0.isInLedger == true }
    let others = receipts.count - looked
    if log.isEmpty { return ["ledger: empty, nothing was ever signed in it"] }
    return withdrawals.map(Self.line) + [
      "ledger: as it was signed, with \(Count.of(included, "receipt")) of these"
        + (others > 0 ? "; \(Count.of(others, "receipt")) signed elsewhere not looked for" : "")
    ] + moved
  }

  /// Receipts found at another path than recorded, usually because their folder was moved.
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

  /// The result as `--json` shows it.
  var line: Line {
    Line(
      log: log.map { $0.path }, checked: log != nil, receipts: looked,
      withdrawn: withdrawals.map {
        Line.Withdrawn($0)
      },
      problems: log?.findings.map { Line.Problem(name: $0.name, reason: $0.problem) } ?? [])
  }

  struct Line: Encodable {
    struct Problem: Encodable {
      let name: String
      let reason: String
    }

    /// A withdrawn receipt.
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

    let log: String?
    let checked: Bool
    let receipts: Int
    let withdrawn: [Withdrawn]
    let problems: [Problem]

    private enum CodingKeys: String, CodingKey {
      case log = "ledger", checked, receipts, withdrawn, problems
    }
  }
}

extension LedgerCommand {
  /// Records the withdrawal of a receipt in the log.
  /// - Parameters:
  ///   - name: its path or name.
  ///   - entries: the log's verified entries.
  ///   - keys: the keys trusted to sign withdrawals.
  func withdraw(
    _ name: String, _ entries: [ReceiptEntry], _ keys: [VerifyingKey], _ context: CommandContext
  ) throws(CommandContext.Refusal) {
    let folder = context.keyFolder(
      at: arguments[Options.keys], passphraseFile: arguments[Options.passphraseFile])
    let key = try KeyCommand.asking(context.console) { () throws(SpoolError) in
      try folder.signingKey()
    }
    let store = try context.store(at: arguments[Options.store])
    func refusal(_ error: SpoolError, _ code: ExitCode) -> CommandContext.Refusal {
      CommandContext.Refusal(text: ErrorText(error).render(context.console), code: code)
    }
    let meant: WithdrawnName
    do throws(SpoolError) { meant = try WithdrawnName(name, among: entries) } catch {
      throw refusal(error, .verificationFailed)
    }
    do throws(SpoolError) {
      let now = SystemClock().now
      let withdrawal = try withdrawal(of: meant, now: now)
      if let before = WithdrawnReceipts(entries, keys: keys)[withdrawal.receipt] {
        throw SpoolError("\(before.path) was withdrawn already, on \(before.time)")
      }
      try WithdrawalWriter(store, keys: folder, key: key).add(withdrawal, now: now)
      context.console.print(
        arguments[Options.json]
          ? JSONText.of(Withdrawn(receipt: withdrawal.path, time: withdrawal.time))
          : "withdrawn \(Format.visible(withdrawal.path))   on \(withdrawal.time)")
    } catch {
      throw refusal(error, .failed)
    }
  }

  private func withdrawal(
    of receipt: WithdrawnName, now: Double
  ) throws(SpoolError) -> Withdrawal {
    let reason = arguments[Self.reason]
    if let reason, reason.utf8.count > Withdrawal.greatestReason {
      throw SpoolError(
        "the reason is too long", reason: "it has \(reason.utf8.count) bytes",
        advice: "use at most \(Withdrawal.greatestReason)")
    }
    return Withdrawal(of: receipt.leaf, at: receipt.path, reason: reason, time: now)
  }
}

/// A withdrawal as `--json` shows it.
private struct Withdrawn: Encodable {
  let receipt: String
  let time: String
}

/// Resolves the receipt that a user withdraws: by its file, or, if that is gone, by its path or
/// unique name.
struct WithdrawnName {
  let leaf: Digest
  let path: String

  /// Finds the receipt in the file of this name, else the last one in the log with this path or
  /// name.
  init(_ name: String, among entries: [ReceiptEntry]) throws(SpoolError) {
    if unsafe access(name, F_OK) == 0 {
      guard let leaf = try? MerkleTree.leaf(ofFile: name),
        let entry = entries.receipts.last(where: { $0.leaf == leaf })
      else {
        throw SpoolError(
          "the ledger does not have the receipt \(name)",
          reason: "the file that lies there is another one than the ledger knows",
          advice: "move it away to withdraw the one that was written there")
      }
      (self.leaf, path) = (leaf, entry.path)
      return
    }
    let latest = entries.receipts.latest
    for candidate in [ResolvedPath.ofFile(name), name] {
      guard let entry = latest[ExactText(candidate)], let leaf = entry.leaf else { continue }
      (self.leaf, path) = (leaf, candidate)
      return
    }
    let named = latest.values.filter { entry in
      [name, name + ReceiptSearch.ending].contains {
        ExactText(ReceiptSearch.name(of: entry.path)) == ExactText($0)
      }
    }
    guard let only = named.first, let leaf = only.leaf, named.count == 1 else {
      throw SpoolError(
        named.isEmpty
          ? "the ledger has no receipt \(name)" : "the ledger has several receipts called \(name)",
        reason: named.isEmpty ? nil : named.map(\.path).sorted().prefix(5).joined(separator: ", "),
        advice: "name the path where it was written")
    }
    (self.leaf, path) = (leaf, only.path)
  }
}
