public import Hashing

/// The tree over the blocks of a file's samples, whose root is signed: by it, a few seconds are shown
/// to be part of the whole.
public struct SampleTree: Hashable, Sendable {
  /// What sound it is made over.
  public let extent: SampleExtent
  /// The hashes of the blocks.
  public let leaves: [Digest]
  /// The hash of the whole.
  public let root: Digest

  /// The tree of these blocks; nil where there are not as many as the sound has. O(blocks).
  public init?(_ extent: SampleExtent, leaves: [Digest]) {
    guard leaves.count == extent.blockCount else { return nil }
    self.extent = extent
    self.leaves = leaves
    root = MerkleTree(leaves: leaves).root(size: leaves.count)
  }

  /// What a receipt says of it.
  public var summary: SampleSummary { SampleSummary(extent: extent, root: root) }

  /// The hashes that whoever has some of the blocks needs besides, for the root: see
  /// ``MerkleTree/siblings(of:)``.
  public func siblings(of blocks: Range<Int>) -> [Digest] {
    MerkleTree(leaves: leaves).siblings(of: blocks)
  }
}

/// What a receipt says of a file's samples.
public struct SampleSummary: Hashable, Sendable {
  /// What sound it is.
  public let extent: SampleExtent
  /// The root of the tree over its blocks.
  public let root: Digest

  /// Describes a file's samples.
  public init(extent: SampleExtent, root: Digest) {
    self.extent = extent
    self.root = root
  }
}
