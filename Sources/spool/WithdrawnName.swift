import Hashing
import PipelineModel
import Proof
import Stages

/// The receipt that a user means who withdraws one: by its path, though nothing lies there any more, or
/// by its name alone, where no other is called so.
struct WithdrawnName {
  /// The receipt as a leaf of the ledger.
  let leaf: Digest
  /// Where it was written.
  let path: String

  /// Finds the last receipt in the ledger of this path or name.
  init(_ name: String, among entries: [ReceiptEntry]) throws(StageError) {
    let latest = entries.receipts.latest
    for candidate in [ResolvedPath.ofFile(name), name] {
      guard let leaf = latest[candidate] else { continue }
      (self.leaf, path) = (leaf, candidate)
      return
    }
    let named = latest.filter { path, _ in
      path.hasSuffix("/" + name) || path.hasSuffix("/" + name + ReceiptSearch.ending)
    }
    guard let only = named.first, named.count == 1 else {
      throw StageError(
        named.isEmpty
          ? "the ledger has no receipt \(name)" : "the ledger has several receipts called \(name)",
        reason: named.isEmpty ? nil : named.keys.sorted().prefix(5).joined(separator: ", "),
        advice: "name the path where it was written")
    }
    (leaf, path) = (only.value, only.key)
  }
}
