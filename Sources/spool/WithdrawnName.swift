import Glibc
import Hashing
import PipelineModel
import Proof
import Stages

/// The receipt that a user means who withdraws one: by the file, or, where nothing lies there any more,
/// by its path or by its name alone, where no other is called so.
struct WithdrawnName {
  /// The receipt as a leaf of the ledger.
  let leaf: Digest
  /// Where it was written.
  let path: String

  /// Finds the receipt in the file of this name, else the last one in the ledger of this path or name.
  init(_ name: String, among entries: [ReceiptEntry]) throws(StageError) {
    if unsafe access(name, F_OK) == 0 {
      guard let leaf = try? MerkleTree.leaf(ofFile: name),
        let entry = entries.receipts.last(where: { $0.leaf == leaf })
      else {
        throw StageError(
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
      throw StageError(
        named.isEmpty
          ? "the ledger has no receipt \(name)" : "the ledger has several receipts called \(name)",
        reason: named.isEmpty ? nil : named.map(\.path).sorted().prefix(5).joined(separator: ", "),
        advice: "name the path where it was written")
    }
    (self.leaf, path) = (leaf, only.path)
  }
}
