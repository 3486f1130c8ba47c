import Glibc
import PipelineModel
import Platform
import Proof
import Receipts
import Stages
import Store

extension Command {
  /// `spool proof ledger`: the transparency log of receipts, which reveals deleted or inserted ones.
  static let ledger = Command(
    name: "proof ledger", group: "Proof",
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
    positionals: [Options.action, Options.words],
    options: [Options.reason, Options.store, Options.keys, Options.passphraseFile, Options.json],
    examples: [
      Example("Keep the head elsewhere", "spool proof ledger head --json > head.json"),
      Example("Has anything been forgotten since?", "spool proof ledger consistency head.json"),
      Example(
        "State that one was taken away",
        "spool proof ledger withdraw out/note.receipt.json --reason 'on request'"),
    ],
    perform: CommandContext.answerFromLedger)
}

extension Options {
  fileprivate enum Action: String, CaseIterable, ArgumentValue {
    case head, prove, consistency, withdraw
  }

  fileprivate static let action = Positional<Action?>.optional(
    "ACTION", help: "What to do; left out, head.")
  fileprivate static let words = Positional<[String]>.repeated(
    "ARGUMENT", minimum: 0,
    help: "The receipt to prove or to withdraw; the earlier and the later head.",
    completion: .files())
  fileprivate static let reason = Option<String?>.value(
    "reason", "TEXT", help: "With withdraw: why the receipt was taken away.")
}

extension CommandContext {
  fileprivate func answerFromLedger() throws(SpoolError) -> ExitCode {
    let store = try existingStore()
    let keys = try keyFolder().knownKeys()
    let audit = LogAudit(try store.receipts.records(), keys: keys)
    let entries = audit.records.entries
    let tree = MerkleTree(leaves: entries.compactMap(\.leaf))
    let words = arguments[Options.words]
    switch (arguments[Options.action] ?? .head, words.count) {
    case (.head, 0):
      try check(audit)
      try head(of: tree, entries)
    case (.prove, 1):
      try check(audit)
      try prove(words[0], in: tree)
    case (.consistency, 1...2):
      // An earlier signed head is stronger evidence than the heads in the store.
      let evidence = try compare(words, with: tree, audit, keys)
      try check(audit)
      answer(evidence, evidence.text)
    case (.withdraw, 1):
      try check(audit)
      try withdraw(words[0], entries, keys)
    default:
      throw .usage(
        "that is not what spool proof ledger takes",
        advice: "spool proof ledger head, prove RECEIPT, consistency OLD [NEW], or withdraw RECEIPT"
      )
    }
    return .done
  }

  /// Refuses to answer from a log that contradicts its own signed heads.
  private func check(_ audit: LogAudit) throws(SpoolError) {
    if let refusal = audit.refusal { throw refusal.with(kind: .broken) }
  }

  private func head(of tree: MerkleTree, _ entries: [ReceiptEntry]) throws(SpoolError) {
    let size = tree.leaves.count
    let root = tree.root(size: size)
    guard isJSON else {
      let receipts = entries.receipts.count
      let withdrawn = size == receipts ? "" : "withdrawn \(size - receipts)\n"
      return console.print("receipts  \(receipts)\n\(withdrawn)root      \(root)")
    }
    let key = try keyFolder().signingKey()
    let edge = LogFrontier(entries) ?? LogFrontier()
    console.draw(edge.head(at: SystemClock().now).signed(by: key))
  }

  private func prove(_ path: String, in tree: MerkleTree) throws(SpoolError) {
    let leaf = try MerkleTree.leaf(ofFile: path)
    guard let index = tree.leaves.firstIndex(of: leaf) else {
      throw broken(
        "the receipt \(path) is not in the ledger", "it was changed, or another store wrote it")
    }
    let size = tree.leaves.count
    let proof = tree.inclusionProof(of: index, size: size)
    let evidence = LogEvidence(
      index: index, oldSize: nil, size: size, leaf: leaf.hex, oldRoot: nil,
      root: tree.root(size: size).hex, proof: proof.map(\.hex))
    answer(evidence, evidence.text)
  }

  private func broken(_ what: String, _ why: String) -> SpoolError {
    SpoolError(
      what, reason: why,
      advice: "spool store check holds the ledger against its heads, spool verify the receipts",
      kind: .broken)
  }
}

/// Consistency of the log with an earlier state.
extension CommandContext {
  /// Checks an earlier head, and optionally a later one, against the tree.
  private func compare(
    _ words: [String], with tree: MerkleTree, _ audit: LogAudit, _ keys: [VerifyingKey]
  ) throws(SpoolError) -> LogEvidence {
    for word in words.compactMap({ Int($0) }) where word > tree.leaves.count {
      // A typed size is no evidence; the log's own signed heads are.
      try check(audit)
      throw .usage(
        "the ledger holds \(tree.leaves.count), not \(word)",
        advice: "spool proof ledger head says how many; name a head that was kept as a file")
    }
    let old = try place(words[0], keys)
    let new = try words.count > 1 ? place(words[1], keys) : (tree.leaves.count, nil)
    for (size, head) in [old, new] {
      switch head?.contradiction(in: audit.records.entries) {
      case nil: break
      case .isShort:
        throw broken(
          "the ledger has forgotten receipts",
          "it holds \(tree.leaves.count), and once held \(size)")
      case .leaves:
        throw broken(
          "the ledger is not what it was",
          "its first \(size) receipts have another root than the signed head says")
      case .paths:
        throw broken(
          "the ledger is not what it was",
          "its first \(size) receipts lay elsewhere when the head was signed")
      }
    }
    guard old.size <= new.size else {
      throw .usage(
        "the earlier head is the larger one", advice: "spool proof ledger consistency OLD NEW")
    }
    let proof = tree.consistencyProof(from: old.size, to: new.size)
    return LogEvidence(
      index: nil, oldSize: old.size, size: new.size, leaf: nil,
      oldRoot: tree.root(size: old.size).hex, root: tree.root(size: new.size).hex,
      proof: proof.map(\.hex))
  }

  /// Parses a size, or reads a signed head from a file.
  private func place(
    _ word: String, _ keys: [VerifyingKey]
  ) throws(SpoolError) -> (size: Int, head: TreeHead?) {
    if let size = Int(word), size >= 0 { return (size, nil) }
    try requireThere(word)
    do throws(SpoolError) {
      let head = try TreeHead(at: word, keys: keys)
      return (head.size, head)
    } catch {
      throw SpoolError(
        error.message, reason: error.reason,
        advice: error.advice ?? "take a head as it was kept, or import the key of its signer",
        kind: .broken)
    }
  }
}

/// Withdrawals: signed statements that a receipt was taken away on purpose.
extension CommandContext {
  /// Adds the withdrawal of a receipt to the log.
  /// - Parameters:
  ///   - name: its path or name.
  ///   - entries: the log's verified entries.
  ///   - keys: the keys trusted to sign withdrawals.
  private func withdraw(
    _ name: String, _ entries: [ReceiptEntry], _ keys: [VerifyingKey]
  ) throws(SpoolError) {
    let folder = keyFolder()
    let key = try folder.signingKey()
    let store = try openStore()
    let receipt: (leaf: Digest, path: String)
    do throws(SpoolError) { receipt = try Self.receipt(named: name, among: entries) } catch {
      throw error.with(kind: .broken)
    }
    let reason = arguments[Options.reason]
    if let reason, reason.utf8.count > Withdrawal.greatestReason {
      throw SpoolError(
        "the reason is too long", reason: "it has \(reason.utf8.count) bytes",
        advice: "use at most \(Withdrawal.greatestReason)")
    }
    if let before = entries.withdrawals(signedBy: keys)[receipt.leaf] {
      throw SpoolError("\(before.path) was withdrawn already, on \(before.time)")
    }
    let now = SystemClock().now
    let withdrawal = Withdrawal(of: receipt.leaf, at: receipt.path, reason: reason, time: now)
    let text = withdrawal.signed(by: key)
    // Its text exists only in the log, in place of a path.
    try LogSigner(store, keys: folder).add(text, at: text, signedBy: key, now: now)
    answer(
      ["receipt": withdrawal.path, "time": withdrawal.time],
      "withdrawn \(Format.visible(withdrawal.path))   on \(withdrawal.time)")
  }

  /// The receipt that a user means: the file of this name, or, if that is gone, the last one in the
  /// log with this path or unique name.
  private static func receipt(
    named name: String, among entries: [ReceiptEntry]
  ) throws(SpoolError) -> (leaf: Digest, path: String) {
    let receipts = entries.receipts
    if FilePath.exists(name) {
      guard let leaf = try? MerkleTree.leaf(ofFile: name),
        let entry = receipts.last(where: { $0.leaf == leaf })
      else {
        throw SpoolError(
          "the ledger does not have the receipt \(name)",
          reason: "the file that lies there is another one than the ledger knows",
          advice: "move it away to withdraw the one that was written there")
      }
      return (leaf, entry.path)
    }
    let latest = receipts.latest
    for path in [ResolvedPath.ofAbsent(name), name] {
      if let leaf = latest[ExactText(path)]?.leaf { return (leaf, path) }
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
    return (leaf, only.path)
  }
}

/// An inclusion or consistency proof, as `spool proof ledger` shows it.
struct LogEvidence: Encodable {
  let index: Int?
  let oldSize: Int?
  let size: Int
  let leaf: String?
  let oldRoot: String?
  let root: String
  let proof: [String]

  var text: String {
    var lines: [String] = []
    if let index, let leaf {
      lines += ["receipt   \(index + 1) of \(size)", "leaf      \(leaf)"]
    }
    if let oldSize, let oldRoot {
      lines += [
        "the ledger of \(Count.of(size, "receipt")) begins with that of \(oldSize)",
        "old root  \(oldRoot)",
      ]
    }
    lines.append("root      \(root)")
    for (number, hash) in proof.enumerated() {
      lines.append("\(number == 0 ? "proof   " : "        ")  \(hash)")
    }
    return lines.joined(separator: "\n")
  }
}
