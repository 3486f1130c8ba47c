package import Platform

/// An append-only Merkle tree: RFC 6962, section 2.
package struct MerkleTree: Hashable, Sendable {
  /// The leaf hashes, in order.
  package let leaves: [Digest]

  package init(leaves: [Digest]) { self.leaves = leaves }

  /// The leaf hash of these bytes: SHA-256 of a zero byte and them.
  package static func leaf(_ bytes: [UInt8]) -> Digest { SHA256.digest(of: [0] + bytes) }

  /// The leaf hash of a receipt's file.
  package static func leaf(ofFile path: String) throws(SpoolError) -> Digest {
    leaf(try SubjectFile.readWhole(path, limit: Envelope.maximumByteCount))
  }

  /// The root over the first `size` leaves. O(size).
  package func root(size: Int) -> Digest { root(leaves[..<size]) }

  /// The inclusion proof of a leaf in the first `size` leaves, from its sibling upwards: RFC 6962,
  /// 2.1.1. O(size).
  package func inclusionProof(of index: Int, size: Int) -> [Digest] {
    precondition(index < size, "no such leaf")
    return path(index, leaves[..<size])
  }

  /// The consistency proof between the first `old` and the first `new` leaves: RFC 6962, 2.1.2.
  /// O(new).
  package func consistencyProof(from old: Int, to new: Int) -> [Digest] {
    precondition(0 <= old && old <= new, "a tree does not shrink")
    return old == 0 || old == new ? [] : subproof(old, leaves[..<new], isWhole: true)
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

/// Inclusion proofs of adjacent leaves, shorter than one proof for each.
extension MerkleTree {
  /// The hashes that complete the leaves of `range` to the root, in the order in which
  /// ``root(size:of:_:siblings:)`` needs them: at most two per level. O(leaves).
  package func siblings(of range: Range<Int>) -> [Digest] {
    precondition(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= leaves.count)
    var siblings: [Digest] = []
    func walk(_ part: Range<Int>) {
      if !part.overlaps(range) {
        let apart = MerkleTree(leaves: Array(leaves[part]))
        return siblings.append(apart.root(size: part.count))
      }
      guard part.count > 1 else { return }
      let split = part.lowerBound + Self.split(part.count)
      walk(part.lowerBound..<split)
      walk(split..<part.upperBound)
    }
    walk(0..<leaves.count)
    return siblings
  }

  /// The root of a tree of `size` leaves from those of `range`; nil for a wrong number of
  /// `siblings`. O(leaves of the range + log size).
  package static func root(
    size: Int, of range: Range<Int>, _ leaves: [Digest], siblings: [Digest]
  ) -> Digest? {
    guard !range.isEmpty, range.lowerBound >= 0, range.upperBound <= size,
      leaves.count == range.count
    else { return nil }
    var rest = siblings[...]
    func walk(_ part: Range<Int>) -> Digest? {
      if !part.overlaps(range) { return rest.popFirst() }
      if part.count == 1 { return leaves[part.lowerBound - range.lowerBound] }
      let split = part.lowerBound + Self.split(part.count)
      guard let left = walk(part.lowerBound..<split), let right = walk(split..<part.upperBound)
      else { return nil }
      return node(left, right)
    }
    let root = walk(0..<size)
    return rest.isEmpty ? root : nil
  }
}
