import Arguments
import Glibc
import Hashing
import PipelineModel
import Proof
import Stages
import Store

/// `spool ledger`: the tree of all receipts, by which one that was deleted or slipped in is found.
struct LedgerCommand: Command {
  /// What is to be done.
  enum Action: String, CaseIterable, ArgumentValue {
    case head, prove, consistency, withdraw
  }

  private static let action = Positional<Action?>.optional(
    "ACTION", help: "What to do; left out, head.")
  private static let words = Positional<[String]>.repeated(
    "ARGUMENT", minimum: 0,
    help: "The receipt to prove or to withdraw; the earlier and the later head.",
    completion: .files())
  static let reason = Option<String?>.value(
    "reason", "TEXT", help: "With withdraw: why the receipt was taken away.")

  static let declaration = CommandDeclaration(
    name: "ledger", group: "Proof",
    summary: "Show the ledger of receipts, and prove what it holds.",
    discussion: """
      Every receipt is a leaf of a Merkle tree in the store, hashed as RFC 6962 has it, to which \
      leaves are only added. head shows its size and root; with --json it is signed, a DSSE \
      envelope to give away or to keep elsewhere. prove gives the hashes by which whoever has the \
      root sees that a receipt is in it. consistency OLD [NEW] shows that the tree still begins with \
      what it held before; OLD and NEW are signed heads in files, or sizes, and NEW is the tree as \
      it is now unless it is named. withdraw says, signed, that a receipt and its files were taken \
      away on purpose: verify does not miss it any more, and tells when that was and the --reason.

      The exit code is 4 if a receipt is not there, the tree does not continue an earlier one, or a \
      head is not as it was signed.
      """,
    positionals: [action, words],
    options: [reason, Options.store, Options.keys, Options.passphraseFile, Options.json],
    examples: [
      Example("Keep the head elsewhere", "spool ledger head --json > head.json"),
      Example("Has anything been forgotten since?", "spool ledger consistency head.json"),
      Example(
        "State that one was taken away",
        "spool ledger withdraw out/note.receipt.json --reason 'its speaker asked for it'"),
    ])

  let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console)
    do throws(Workbench.Refusal) {
      let readable = try bench.existingStore(at: arguments[Options.store])
      defer { withExtendedLifetime(readable) {} }
      let keys = try trustedKeys(bench)
      let records: ReceiptRecords
      do throws(StoreError) {
        records = try readable.store.receiptRecords().caughtUp(keys: keys)
      } catch {
        throw Workbench.Refusal(text: ErrorText(StageError(error)).render(console), code: .failed)
      }
      let tree = MerkleTree(leaves: records.entries.compactMap(\.leaf))
      let words = arguments[Self.words]
      switch (arguments[Self.action] ?? .head, words.count) {
      case (.head, 0):
        try audit(records, keys, bench)
        try head(of: tree, records.entries, bench)
      case (.prove, 1):
        try audit(records, keys, bench)
        try prove(words[0], in: tree, console)
      case (.consistency, 1...2):
        // What an earlier head tells is more than what those that lie here do.
        let evidence = try compare(words, with: tree, records, keys, bench)
        try audit(records, keys, bench)
        tell(evidence, console)
      case (.withdraw, 1):
        try audit(records, keys, bench)
        try withdraw(words[0], records.entries, keys, bench)
      default:
        throw Workbench.Refusal(
          text: "\(console.red("error:")) that is not what spool ledger takes\n"
            + "next:  spool ledger head, prove RECEIPT, consistency OLD [NEW],"
            + " or withdraw RECEIPT", code: .usage)
      }
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }

  /// Refuses to say anything of a ledger that its own signed heads contradict.
  func audit(
    _ records: ReceiptRecords, _ keys: [VerifyingKey], _ bench: Workbench
  ) throws(Workbench.Refusal) {
    guard let refusal = LedgerAudit(records, keys: keys).refusal(keys: keys) else { return }
    throw Workbench.Refusal(
      text: ErrorText(refusal).render(bench.console), code: .verificationFailed)
  }

  private func trustedKeys(_ bench: Workbench) throws(Workbench.Refusal) -> [VerifyingKey] {
    try KeyCommand.asking(bench.console) { () throws(ProofError) in
      try bench.keyFolder(at: arguments[Options.keys]).knownKeys()
    }
  }

  private func head(
    of tree: MerkleTree, _ entries: [ReceiptEntry], _ bench: Workbench
  ) throws(Workbench.Refusal) {
    let size = tree.leaves.count
    let root = tree.root(size: size)
    guard arguments[Options.json] else {
      let receipts = entries.receipts.count
      let withdrawn = size == receipts ? "" : "withdrawn \(size - receipts)\n"
      return bench.console.print("receipts  \(receipts)\n\(withdrawn)root      \(root)")
    }
    let key = try KeyCommand.asking(bench.console) { () throws(ProofError) in
      try bench.keyFolder(
        at: arguments[Options.keys], passphraseFile: arguments[Options.passphraseFile]
      ).signingKey()
    }
    let paths = PathChain(entries.map(\.path)).digest
    bench.console.draw(
      TreeHead(size: size, root: root, paths: paths, time: SystemClock().now).signed(by: key))
  }

  private func prove(
    _ path: String, in tree: MerkleTree, _ console: Console
  ) throws(Workbench.Refusal) {
    let leaf = try KeyCommand.asking(console) { () throws(ProofError) in
      try MerkleTree.leaf(ofFile: path)
    }
    guard let index = tree.leaves.firstIndex(of: leaf) else {
      throw broken(
        "the receipt \(path) is not in the ledger", "it was changed, or another store wrote it",
        console)
    }
    let size = tree.leaves.count
    let proof = tree.inclusionProof(of: index, size: size)
    tell(
      LedgerEvidence(
        index: index, oldSize: nil, size: size, leaf: leaf.hex, oldRoot: nil,
        root: tree.root(size: size).hex, proof: proof.map(\.hex)), console)
  }

  func broken(_ what: String, _ why: String, _ console: Console) -> Workbench.Refusal {
    Workbench.Refusal(
      text: ErrorText(
        StageError(
          what, reason: why,
          advice: "spool check holds the ledger against its heads, spool verify the receipts")
      ).render(console), code: .verificationFailed)
  }

  private func tell(_ proof: LedgerEvidence, _ console: Console) {
    console.print(arguments[Options.json] ? JSONText.of(proof) : proof.text)
  }
}
