import Arguments
import PipelineModel
import Proof
import Stages
import Store

extension LedgerCommand {
  /// Says in the ledger that a receipt was taken away on purpose.
  /// - Parameters:
  ///   - name: where it was written, or its name.
  ///   - entries: the ledger's, which are as they were signed.
  ///   - keys: those whose withdrawals count.
  func withdraw(
    _ name: String, _ entries: [ReceiptEntry], _ keys: [VerifyingKey], _ bench: Workbench
  ) throws(Workbench.Refusal) {
    let folder = bench.keyFolder(
      at: arguments[Options.keys], passphraseFile: arguments[Options.passphraseFile])
    let key = try KeyCommand.asking(bench.console) { () throws(ProofError) in
      try folder.signingKey()
    }
    let store = try bench.store(at: arguments[Options.store])
    func refusal(_ error: StageError, _ code: ExitCode) -> Workbench.Refusal {
      Workbench.Refusal(text: ErrorText(error).render(bench.console), code: code)
    }
    let meant: WithdrawnName
    do throws(StageError) { meant = try WithdrawnName(name, among: entries) } catch {
      throw refusal(error, .verificationFailed)
    }
    do throws(StageError) {
      let now = SystemClock().now
      let withdrawal = try withdrawal(of: meant, now: now)
      if let before = WithdrawnReceipts(entries, keys: keys)[withdrawal.receipt] {
        throw StageError("\(before.path) was withdrawn already, on \(before.time)")
      }
      try WithdrawalDesk(store, keys: folder, key: key).add(withdrawal, now: now)
      bench.console.print(
        arguments[Options.json]
          ? JSONText.of(Withdrawn(receipt: withdrawal.path, time: withdrawal.time))
          : "withdrawn \(Format.visible(withdrawal.path))   on \(withdrawal.time)")
    } catch {
      throw refusal(error, .failed)
    }
  }

  private func withdrawal(
    of receipt: WithdrawnName, now: Double
  ) throws(StageError) -> Withdrawal {
    let reason = arguments[Self.reason]
    if let reason, reason.utf8.count > Withdrawal.greatestReason {
      throw StageError(
        "the reason is too long", reason: "it has \(reason.utf8.count) bytes",
        advice: "use at most \(Withdrawal.greatestReason)")
    }
    return Withdrawal(of: receipt.leaf, at: receipt.path, reason: reason, time: now)
  }
}

/// What was withdrawn, as `--json` shows it.
private struct Withdrawn: Encodable {
  let receipt: String
  let time: String
}
