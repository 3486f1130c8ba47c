import Platform
@testable import Proof
import Testing

@Suite("The tree of receipts is that of RFC 6962")
struct MerkleTreeTests {
  /// The leaves and roots that implementations of Certificate Transparency publish for their tests.
  private static let inputs: [[UInt8]] = [
    [], [0x00], [0x10], [0x20, 0x21], [0x30, 0x31], [0x40, 0x41, 0x42, 0x43],
    [0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57],
    [
      0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68, 0x69, 0x6A, 0x6B, 0x6C, 0x6D, 0x6E,
      0x6F,
    ],
  ]
  private static let roots = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
  ]
  private let tree = MerkleTree(leaves: Self.inputs.map { MerkleTree.leaf($0) })

  @Test("the published roots", arguments: 0...8)
  func roots(size: Int) {
    #expect(tree.root(size: size).hex == Self.roots[size])
  }

  @Test("the published proofs that a leaf is there")
  func publishedInclusion() {
    #expect(
      tree.inclusionProof(of: 0, size: 8).map(\.hex) == [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
      ])
    #expect(
      tree.inclusionProof(of: 5, size: 8).map(\.hex) == [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        Self.roots[4],
      ])
    #expect(tree.inclusionProof(of: 2, size: 3).map(\.hex) == [Self.roots[2]])
    #expect(tree.inclusionProof(of: 0, size: 1) == [])
  }

  @Test("the published proofs that a tree continues another")
  func publishedConsistency() {
    #expect(
      tree.consistencyProof(from: 6, to: 8).map(\.hex) == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        Self.roots[4],
      ])
    #expect(
      tree.consistencyProof(from: 2, to: 5).map(\.hex) == [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
      ])
    #expect(tree.consistencyProof(from: 1, to: 1) == [])
  }

  @Test("every proof of every tree holds, and for no other leaf, place, size or root")
  func everyProof() {
    let tree = MerkleTree(leaves: (0..<33).map { MerkleTree.leaf([UInt8($0)]) })
    for size in 1...33 {
      let root = tree.root(size: size)
      for index in 0..<size {
        let proof = tree.inclusionProof(of: index, size: size)
        let leaf = tree.leaves[index]
        func holds(
          _ leaf: Digest, _ index: Int, _ size: Int, _ root: Digest, _ proof: [Digest]
        ) -> Bool {
          MerkleTree.isIncluded(leaf, at: index, size: size, root: root, proof: proof)
        }
        #expect(holds(leaf, index, size, root, proof))
        #expect(!holds(root, index, size, root, proof) || size == 1)
        #expect(!holds(leaf, index, size, leaf, proof) || size == 1)
        #expect(!holds(leaf, index, size, root, proof + [leaf]))
        #expect(!holds(leaf, index, size, root, Array(proof.dropLast())) || proof.isEmpty)
        #expect(!holds(leaf, index ^ 1, size, root, proof))
      }
    }
  }

  @Test("a tree that forgets, changes or moves a leaf continues no earlier one")
  func everyConsistency() {
    let leaves = (0..<20).map { MerkleTree.leaf([UInt8($0)]) }
    let tree = MerkleTree(leaves: leaves)
    for new in 0...20 {
      for old in 0...new {
        func holds(_ other: MerkleTree) -> Bool {
          MerkleTree.isConsistent(
            old: old, tree.root(size: old), new: new, other.root(size: new),
            proof: other.consistencyProof(from: old, to: new))
        }
        #expect(holds(tree), "\(old) → \(new)")
        for place in 0..<old {
          var changed = leaves
          changed[place] = MerkleTree.leaf([99])
          #expect(!holds(MerkleTree(leaves: changed)), "\(old) → \(new), leaf \(place) changed")
        }
      }
    }
  }

  @Test("a tree that is known by its edge alone has the same roots")
  func frontier() {
    let leaves = (0..<200).map { MerkleTree.leaf([UInt8($0)]) }
    let tree = MerkleTree(leaves: leaves)
    var edge = LogFrontier()
    #expect(edge.root == tree.root(size: 0))
    for (index, leaf) in leaves.enumerated() {
      edge.append(leaf, at: "/\(index)")
      #expect(edge.root == tree.root(size: index + 1))
      #expect(edge.size == index + 1)
    }
  }
}

/// The verifiers of RFC 9162, which know nothing of how proofs are made.
extension MerkleTree {
  /// Verifies an inclusion proof: RFC 9162, 2.1.3.2.
  fileprivate static func isIncluded(
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

  /// Verifies a consistency proof: RFC 9162, 2.1.4.2.
  fileprivate static func isConsistent(
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
}
