public import Hashing

/// An append-only tree of hashes: RFC 6962, section 2. Whoever keeps one root can tell later
/// whether anything that was in the tree is gone or was slipped in before.
public struct MerkleTree: Hashable, Sendable {
  /// The hashes of the leaves, in the order in which they were added.
  public let leaves: [Digest]

  /// A tree of these leaf hashes.
  public init(leaves: [Digest]) { self.leaves = leaves }

  /// The hash of a leaf that holds these bytes: SHA-256 of a zero byte and them.
  public static func leaf(_ bytes: [UInt8]) -> Digest { SHA256.digest(of: [0] + bytes) }

  /// The hash of the leaf that a receipt's file is.
  public static func leaf(ofFile path: String) throws(ProofError) -> Digest {
    leaf(try SubjectFile.readWhole(path, limit: Envelope.maximumByteCount))
  }

  /// The root over the first `size` leaves. O(size).
  public func root(size: Int) -> Digest { root(leaves[..<size]) }

  /// The hashes by which whoever has a leaf computes the root over the first `size` leaves, from
  /// the leaf's neighbour upwards: RFC 6962, 2.1.1. O(size).
  public func inclusionProof(of index: Int, size: Int) -> [Digest] {
    precondition(index < size, "no such leaf")
    return path(index, leaves[..<size])
  }

  /// The hashes by which whoever has the root over the first `old` leaves sees that the root over
  /// the first `new` ones continues it: RFC 6962, 2.1.2. O(new).
  public func consistencyProof(from old: Int, to new: Int) -> [Digest] {
    precondition(0 <= old && old <= new, "a tree does not shrink")
    return old == 0 || old == new ? [] : subproof(old, leaves[..<new], isWhole: true)
  }

  /// Whether a leaf is at `index` in the tree of `size` leaves with this root: RFC 9162, 2.1.3.2.
  public static func isIncluded(
    _ leaf: Digest, at index: Int, size: Int, root: Digest, proof: [Digest]
  ) -> Bool {
    guard 0 <= index, index < size else { return false }
    var place = index
    var last = size - 1
    var hash = leaf
    for other in proof {
      guard last > 0 else { return false }
      if place % 2 == 1 || place == last {
        hash = node(other, hash)
        while place % 2 == 0, place != 0 {
          place /= 2
          last /= 2
        }
      } else {
        hash = node(hash, other)
      }
      place /= 2
      last /= 2
    }
    return last == 0 && hash == root
  }

  /// Whether the tree of `new` leaves continues that of `old` leaves: RFC 9162, 2.1.4.2.
  public static func isConsistent(
    old: Int, _ oldRoot: Digest, new: Int, _ newRoot: Digest, proof: [Digest]
  ) -> Bool {
    guard 0 <= old, old <= new else { return false }
    if old == new { return proof.isEmpty && oldRoot == newRoot }
    if old == 0 { return proof.isEmpty && oldRoot == SHA256.digest(of: [UInt8]()) }
    var path = proof[...]
    if old & (old - 1) == 0 { path = ([oldRoot] + proof)[...] }
    guard let first = path.popFirst() else { return false }
    var place = old - 1
    var last = new - 1
    while place % 2 == 1 {
      place /= 2
      last /= 2
    }
    var (before, after) = (first, first)
    for other in path {
      guard last > 0 else { return false }
      if place % 2 == 1 || place == last {
        before = node(other, before)
        after = node(other, after)
        while place % 2 == 0, place != 0 {
          place /= 2
          last /= 2
        }
      } else {
        after = node(after, other)
      }
      place /= 2
      last /= 2
    }
    return last == 0 && before == oldRoot && after == newRoot
  }

  private func root(_ leaves: ArraySlice<Digest>) -> Digest {
    guard leaves.count > 1 else { return leaves.first ?? SHA256.digest(of: [UInt8]()) }
    let split = leaves.startIndex + Self.split(leaves.count)
    return Self.node(root(leaves[..<split]), root(leaves[split...]))
  }

  private func path(_ index: Int, _ leaves: ArraySlice<Digest>) -> [Digest] {
    guard leaves.count > 1 else { return [] }
    let count = Self.split(leaves.count)
    let split = leaves.startIndex + count
    return index < count
      ? path(index, leaves[..<split]) + [root(leaves[split...])]
      : path(index - count, leaves[split...]) + [root(leaves[..<split])]
  }

  private func subproof(_ old: Int, _ leaves: ArraySlice<Digest>, isWhole: Bool) -> [Digest] {
    if old == leaves.count { return isWhole ? [] : [root(leaves)] }
    let count = Self.split(leaves.count)
    let split = leaves.startIndex + count
    return old <= count
      ? subproof(old, leaves[..<split], isWhole: isWhole) + [root(leaves[split...])]
      : subproof(old - count, leaves[split...], isWhole: false) + [root(leaves[..<split])]
  }

  /// The largest power of two below `count`.
  static func split(_ count: Int) -> Int {
    1 << (Int.bitWidth - 1 - (count - 1).leadingZeroBitCount)
  }

  static func node(_ left: Digest, _ right: Digest) -> Digest {
    SHA256.digest(of: [1] + left.bytes + right.bytes)
  }
}
