public import Hashing

/// The right edge of a growing tree of hashes: enough to add leaves and to know the root, without the
/// leaves that are in it already. RFC 6962, section 2.1; the roots are those of ``MerkleTree``.
public struct MerkleFrontier: Hashable, Sendable {
  /// How many leaves are in the tree.
  public private(set) var size = 0
  /// The roots of the perfect trees that it consists of, the largest first: one for every bit that is
  /// set in `size`.
  private var peaks: [Digest] = []

  /// A tree of these leaf hashes. O(n).
  public init(leaves: some Sequence<Digest> = EmptyCollection()) {
    for leaf in leaves { append(leaf) }
  }

  /// Adds a leaf. O(log n), and O(1) on average.
  public mutating func append(_ leaf: Digest) {
    var hash = leaf
    // Two trees of the same size become one, as a carry goes through a counter.
    var rest = size
    while rest % 2 == 1, let left = peaks.popLast() {
      hash = MerkleTree.node(left, hash)
      rest /= 2
    }
    peaks.append(hash)
    size += 1
  }

  /// The root over all leaves. O(log n).
  public var root: Digest {
    guard let last = peaks.last else { return SHA256.digest(of: [UInt8]()) }
    return peaks.dropLast().reversed().reduce(last) { MerkleTree.node($1, $0) }
  }
}
