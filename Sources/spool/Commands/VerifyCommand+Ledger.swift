import Arguments
import PipelineModel
import Proof
import Stages
import Store

/// What the ledger in the store is to say of receipts, and by whose keys.
extension VerifyCommand {
  /// What the store knows; nil where there is none, or nobody asks.
  func ledger(
    _ bench: Workbench, _ keys: [VerifyingKey]
  ) throws(Workbench.Refusal) -> LedgerView? {
    if arguments[Self.isAlone] { return nil }
    let named = arguments[Options.store]
    if let named { try bench.requireStore(at: named) }
    let path = StoreLocation.resolve(option: named, environment: Environment.variables)
    // Heads are signed with the keys that are known here, whatever --key says of receipts.
    let folder = bench.keyFolder(at: arguments[Options.keys])
    var own: VerifyingKey?
    var trouble: ProofError?
    do throws(ProofError) { own = try folder.existingVerifyingKey() } catch { trouble = error }
    let (known, earlier) = try KeyCommand.asking(bench.console) { () throws(ProofError) in
      (try folder.knownKeys(), try folder.earlierKeys())
    }
    let ledger: LedgerView?
    do throws(StoreError) {
      ledger = try LedgerView.find(
        at: path, keys: known + keys, own: earlier + (own.map { [$0] } ?? []),
        isNamed: named != nil)
    } catch {
      throw Workbench.Refusal(
        text: ErrorText(StageError(error)).render(bench.console), code: .failed)
    }
    if trouble == nil, own == nil, let ledger, !ledger.signers.allSatisfy(earlier.contains) {
      trouble = ProofError("the signing key is not in \(folder.path) any more")
    }
    if ledger != nil, let trouble { note(trouble, bench.console) }
    return ledger
  }

  /// Nothing is signed with a key that cannot be used; what it signed is looked for all the same.
  private func note(_ trouble: ProofError, _ console: Console) {
    let reason = trouble.reason.map { ": \($0)" } ?? ""
    console.report(
      "note: " + Format.visible("\(trouble.message)\(reason)")
        + "; the ledger is held against the keys that its heads are signed with")
    if let advice = trouble.advice { console.report("next:  \(Format.visible(advice))") }
  }
}
