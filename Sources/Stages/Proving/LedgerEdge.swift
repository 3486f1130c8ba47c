import Hashing
public import PipelineModel
public import Proof

/// The end of a list of receipts: all that is needed to add one and to say what a head over it says.
struct LedgerEdge {
  private(set) var tree = MerkleFrontier()
  private(set) var paths = PathChain()

  /// The edge of an empty list.
  init() {}

  /// The edge of a list; nil where a place or a leaf in it is wrong. O(n).
  init?(_ entries: some Collection<ReceiptEntry>) {
    for entry in entries { guard append(entry) else { return nil } }
  }

  /// Adds a receipt. - Returns: whether it belongs here.
  mutating func append(_ entry: ReceiptEntry) -> Bool {
    guard entry.position == tree.size, let leaf = entry.leaf else { return false }
    tree.append(leaf)
    paths.append(entry.path)
    return true
  }

  /// The head over it.
  func head(at time: Double) -> TreeHead {
    TreeHead(size: tree.size, root: tree.root, paths: paths.digest, time: time)
  }
}

extension TreeHead {
  /// What is wrong with a list under this head; nil where its beginning is what was signed. O(n).
  public func contradiction(in entries: [ReceiptEntry]) -> LedgerContradiction? {
    guard size <= entries.count else { return .isShort }
    guard let edge = LedgerEdge(entries.prefix(size)), edge.tree.root == root else {
      return .leaves
    }
    // A head of an earlier version says nothing of paths.
    return paths.map { $0 == edge.paths.digest } ?? true ? nil : .paths
  }
}

/// How a list contradicts a signed head.
public enum LedgerContradiction: Hashable {
  /// Receipts are gone.
  case isShort
  /// The leaves have another root.
  case leaves
  /// The leaves are those that were signed, and lay elsewhere.
  case paths
}
