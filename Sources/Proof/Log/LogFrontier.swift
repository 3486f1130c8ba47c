package import Platform

/// The right edge of the growing transparency log: enough to append entries and to state a head
/// without the earlier ones. The leaves form a ``MerkleTree``: RFC 6962, section 2.1.
package struct LogFrontier: Hashable, Sendable {
  /// Number of leaves.
  package private(set) var size = 0
  /// The running digest of the paths, signed in heads: initially the SHA-256 of nothing; each path
  /// replaces it by the SHA-256 of itself followed by the SHA-256 of the path.
  package private(set) var paths = SHA256.digest(of: [UInt8]())
  /// The roots of the perfect subtrees, the largest first: one per set bit of `size`.
  private var peaks: [Digest] = []

  package init() {}

  /// O(log n), on average O(1).
  package mutating func append(_ leaf: Digest, at path: String) {
    var hash = leaf
    // Subtrees of equal size merge, as a carry in a counter.
    var rest = size
    while rest % 2 == 1, let left = peaks.popLast() {
      hash = MerkleTree.node(left, hash)
      rest /= 2
    }
    peaks.append(hash)
    size += 1
    paths = SHA256.digest(of: paths.bytes + SHA256.digest(of: path).bytes)
  }

  /// O(log n).
  package var root: Digest {
    guard let last = peaks.last else { return SHA256.digest(of: [UInt8]()) }
    return peaks.dropLast().reversed().reduce(last) { MerkleTree.node($1, $0) }
  }

  /// - Parameter time: in seconds since 1970.
  package func head(at time: Double) -> TreeHead {
    TreeHead(size: size, root: root, paths: paths, time: time)
  }
}
