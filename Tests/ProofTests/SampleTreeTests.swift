import Platform
@testable import Proof
import TestSupport
import Testing

@Suite("A tree over the seconds of sound")
struct SampleTreeTests {
  private static let extents = [1, 2, 3, 7, 8, 13, 64, 65].compactMap { blocks in
    SampleExtent(format: .s24le, rate: 50, channels: 2, frames: 50 * blocks - 17)
  }

  private static func leaves(_ count: Int) -> [Digest] {
    (0..<count).map { MerkleTree.leaf(Array("block \($0)".utf8)) }
  }

  @Test("gives for every range the hashes that lead to its root, and no more than are needed")
  func ranges() throws {
    for extent in Self.extents {
      let leaves = Self.leaves(extent.blockCount)
      let tree = try #require(SampleTree(extent, leaves: leaves))
      for first in leaves.indices {
        for end in first + 1...leaves.count {
          let siblings = tree.siblings(of: first..<end)
          let own = Array(leaves[first..<end])
          #expect(
            MerkleTree.root(size: leaves.count, of: first..<end, own, siblings: siblings)
              == tree.root)
          // Two at most for each level.
          let levels = Int.bitWidth - (leaves.count - 1).leadingZeroBitCount
          #expect(siblings.count <= 2 * levels)
          #expect(
            MerkleTree.root(
              size: leaves.count, of: first..<end, own, siblings: siblings + [tree.root]) == nil)
          if !siblings.isEmpty {
            #expect(
              MerkleTree.root(
                size: leaves.count, of: first..<end, own, siblings: siblings.dropLast()) == nil)
          }
        }
      }
    }
  }

  @Test("has the siblings of RFC 6962's inclusion proof for a single block, in the walk's order")
  func inclusion() {
    let leaves = Self.leaves(13)
    let tree = MerkleTree(leaves: leaves)
    for index in leaves.indices {
      let siblings = tree.siblings(of: index..<index + 1)
      #expect(Set(siblings) == Set(tree.inclusionProof(of: index, size: 13)))
    }
  }

  @Test("is led to by nothing else: another block, another place, or siblings that changed places")
  func forged() throws {
    let leaves = Self.leaves(13)
    let tree = MerkleTree(leaves: leaves)
    let root = tree.root(size: 13)
    let siblings = tree.siblings(of: 4..<7)
    func claim(_ range: Range<Int>, _ own: [Digest], _ siblings: [Digest]) -> Bool {
      MerkleTree.root(size: 13, of: range, own, siblings: siblings) == root
    }
    let own = Array(leaves[4..<7])
    #expect(claim(4..<7, own, siblings))
    #expect(!claim(5..<8, own, siblings))
    #expect(!claim(4..<7, own.reversed(), siblings))
    #expect(!claim(4..<7, [own[0], own[1], leaves[7]], siblings))
    for index in siblings.indices.dropLast() {
      var exchanged = siblings
      exchanged.swapAt(index, index + 1)
      #expect(!claim(4..<7, own, exchanged))
    }
    #expect(!claim(4..<7, Array(own.dropLast()), siblings))
    #expect(MerkleTree.root(size: 13, of: 12..<14, Self.leaves(2), siblings: siblings) == nil)
  }

  @Test("is the same however the sound is cut on its way")
  func cuts() throws {
    let extent = try #require(Self.extents.last)
    let bytes = (0..<extent.frames * extent.frameByteCount).map {
      UInt8(truncatingIfNeeded: $0 &* 37)
    }
    func hashed(_ frames: Int) -> (leaves: [Digest], frames: Int) {
      var hasher = SampleLeafHasher(format: extent.format, rate: extent.rate, channels: 2)
      let length = frames * extent.frameByteCount
      for start in stride(from: 0, to: bytes.count, by: length) {
        hasher.update(Array(bytes[start..<min(start + length, bytes.count)]))
      }
      let count = hasher.finish()
      return (hasher.leaves, count)
    }
    let expected = stride(from: 0, to: bytes.count, by: 300).map {
      MerkleTree.leaf(Array(bytes[$0..<min($0 + 300, bytes.count)]))
    }
    for frames in [1, 7, 50, 64, 1000, 100_000] {
      let found = hashed(frames)
      #expect(found.leaves == expected)
      #expect(found.frames == extent.frames)
    }
  }

  @Test("goes on behind the leaves that are there")
  func resumed() throws {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 91) }
    var whole = SampleLeafHasher(format: .s16le, rate: 100, channels: 1)
    whole.update(bytes)
    var first = SampleLeafHasher(format: .s16le, rate: 100, channels: 1)
    first.update(Array(bytes[..<730]))
    #expect(first.framesInLeaves == 300)
    var second = SampleLeafHasher(
      format: .s16le, rate: 100, channels: 1, leaves: first.leaves)
    second.update(Array(bytes[(2 * first.framesInLeaves)...]))
    let (one, other) = (whole.finish(), second.finish())
    #expect(one == other)
    #expect(whole.leaves == second.leaves)
  }

  @Test("is read from its file as it was written, and from no other")
  func file() throws {
    for extent in Self.extents {
      let tree = try #require(SampleTree(extent, leaves: Self.leaves(extent.blockCount)))
      let bytes = tree.fileBytes
      #expect(bytes.count == 32 + 32 * extent.blockCount)
      #expect(SampleTree(fileBytes: bytes) == tree)
      #expect(SampleTree(fileBytes: bytes.dropLast()) == nil)
      #expect(SampleTree(fileBytes: bytes + [0]) == nil)
      for place in 0..<32 where place != 24 {
        var other = bytes
        other[place] ^= 0x80
        #expect(SampleTree(fileBytes: other) != tree)
      }
    }
  }
}
