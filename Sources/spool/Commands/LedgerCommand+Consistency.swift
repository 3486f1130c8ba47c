import Arguments
import Glibc
import Hashing
import PipelineModel
import Proof
import Stages
import Store

/// Does the ledger still begin with what it held before?
extension LedgerCommand {
  /// Holds an earlier head, and the later one that may be named, against the tree.
  func compare(
    _ words: [String], with tree: MerkleTree, _ records: ReceiptRecords, _ keys: [VerifyingKey],
    _ bench: Workbench
  ) throws(Workbench.Refusal) -> LedgerEvidence {
    for word in words.compactMap({ Int($0) }) where word > tree.leaves.count {
      // A size that was typed is no evidence of anything; what the ledger's own heads say, is.
      try audit(records, keys, bench)
      throw Workbench.Refusal(
        text: "\(bench.console.red("error:")) the ledger holds \(tree.leaves.count), not \(word)\n"
          + "next:  spool ledger head says how many; name a head that was kept as a file",
        code: .usage)
    }
    let old = try place(words[0], keys, bench)
    let new = try words.count > 1 ? place(words[1], keys, bench) : (tree.leaves.count, nil)
    for (size, head) in [old, new] {
      switch head?.contradiction(in: records.entries) {
      case nil: break
      case .isShort:
        throw broken(
          "the ledger has forgotten receipts",
          "it holds \(tree.leaves.count), and once held \(size)", bench.console)
      case .leaves:
        throw broken(
          "the ledger is not what it was",
          "its first \(size) receipts have another root than the signed head says", bench.console)
      case .paths:
        throw broken(
          "the ledger is not what it was",
          "its first \(size) receipts lay elsewhere when the head was signed", bench.console)
      }
    }
    guard old.size <= new.size else {
      throw Workbench.Refusal(
        text: "\(bench.console.red("error:")) the earlier head is the larger one\n"
          + "next:  spool ledger consistency OLD NEW", code: .usage)
    }
    let proof = tree.consistencyProof(from: old.size, to: new.size)
    return LedgerEvidence(
      index: nil, oldSize: old.size, size: new.size, leaf: nil,
      oldRoot: tree.root(size: old.size).hex, root: tree.root(size: new.size).hex,
      proof: proof.map(\.hex))
  }

  /// A size, or a signed head in a file.
  private func place(
    _ word: String, _ keys: [VerifyingKey], _ bench: Workbench
  ) throws(Workbench.Refusal) -> (size: Int, head: TreeHead?) {
    if let size = Int(word), size >= 0 { return (size, nil) }
    guard unsafe access(word, R_OK) == 0 else {
      throw Workbench.Refusal(
        text: ErrorText(
          StageError(
            "cannot read the tree head \(word)", reason: unsafe String(cString: strerror(errno)),
            advice: "check the path")
        ).render(bench.console), code: .failed)
    }
    do throws(ProofError) {
      let head = try TreeHead(at: word, keys: keys)
      return (head.size, head)
    } catch {
      throw Workbench.Refusal(
        text: ErrorText(
          StageError(
            error.message, reason: error.reason,
            advice: error.advice ?? "take a head as it was kept, or import the key of its signer")
        ).render(bench.console), code: .verificationFailed)
    }
  }
}
