internal import Hashing

extension SubjectFile {
  /// The hashes of a clip's blocks, if the file is that clip and nothing else. O(bytes), a block of
  /// which is in memory at a time.
  func leaves(of clip: QuotedClip) throws(Trouble) -> [Digest] {
    let reader = try SubjectReader(self)
    guard reader.byteCount == clip.byteCount else {
      throw Trouble(
        reason: "it has \(reader.byteCount) bytes, and \(Self.words(clip)) \(clip.byteCount)")
    }
    guard try reader.read(QuotedClip.headerByteCount) == clip.header else {
      throw Trouble(reason: "its header is not the one that follows from the receipt")
    }
    var leaves: [Digest] = []
    for block in clip.blocks {
      leaves.append(
        MerkleTree.leaf(try reader.read(clip.extent.byteCount(ofBlock: block))))
    }
    guard try reader.read(clip.padByteCount).allSatisfy({ $0 == 0 }) else {
      throw Trouble(reason: "what follows the samples is no zero")
    }
    return leaves
  }

  private static func words(_ clip: QuotedClip) -> String {
    clip.blocks.count == 1
      ? "block \(clip.blocks.lowerBound) has"
      : "blocks \(clip.blocks.lowerBound) to \(clip.blocks.upperBound - 1) have"
  }
}
