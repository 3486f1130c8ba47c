public import Hashing

/// Proofs for leaves that stand side by side: fewer hashes than one proof for each would need.
extension MerkleTree {
  /// The hashes by which whoever has the leaves of `range` computes the root, in the order in which
  /// ``root(size:of:_:siblings:)`` meets them: at most two for each level of the tree. O(leaves).
  public func siblings(of range: Range<Int>) -> [Digest] {
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

  /// The root of a tree of `size` leaves of which those of `range` are known: nil where `siblings` are
  /// too few or too many. O(leaves of the range + log size).
  public static func root(
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
