/// A proof out of the ledger, as `spool ledger` shows it.
struct LedgerEvidence: Encodable {
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
