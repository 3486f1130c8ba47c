package import Platform

/// The Merkle tree over the blocks of a file's samples. Its signed root proves that an excerpt is
/// part of the whole.
package struct SampleTree: Hashable, Sendable {
  package let extent: SampleExtent
  /// The hashes of the blocks.
  package let leaves: [Digest]
  package let root: Digest

  /// Nil if the number of blocks does not match the sound. O(blocks).
  package init?(_ extent: SampleExtent, leaves: [Digest]) {
    guard leaves.count == extent.blockCount else { return nil }
    self.extent = extent
    self.leaves = leaves
    root = MerkleTree(leaves: leaves).root(size: leaves.count)
  }

  package var summary: SampleSummary { SampleSummary(extent: extent, root: root) }

  /// The hashes that complete some blocks to the root: see ``MerkleTree/siblings(of:)``.
  package func siblings(of blocks: Range<Int>) -> [Digest] {
    MerkleTree(leaves: leaves).siblings(of: blocks)
  }
}

/// A receipt's statement on a file's samples.
package struct SampleSummary: Hashable, Sendable {
  package let extent: SampleExtent
  package let root: Digest
}

extension SampleSummary {
  /// As in a receipt and in a quote.
  var json: JSONValue {
    .object([
      "format": .text(extent.format.rawValue), "rate": .integer(extent.rate),
      "channels": .integer(extent.channels), "frames": .integer(extent.frames),
      "blocks": .integer(extent.blockCount), "root": .text(root.hex),
    ])
  }

  /// Nil for anything else, and if the number of blocks does not follow from the rest.
  init?(_ json: JSONValue) {
    guard let format = json["format"]?.text.flatMap(SampleFormat.init(rawValue:)),
      let rate = json["rate"]?.integer, let channels = json["channels"]?.integer,
      let frames = json["frames"]?.integer,
      let extent = SampleExtent(format: format, rate: rate, channels: channels, frames: frames),
      let root = json["root"]?.text.flatMap(Digest.init(hex:))
    else { return nil }
    self.init(extent: extent, root: root)
    guard self.json == json else { return nil }
  }
}

/// The list of leaves as a file, described in the article Quotes.
extension SampleTree {
  /// Bytes of the longest list that is read: a leaf for every second of a year.
  package static let maximumFileByteCount = 1 << 30

  private static let magic = Array("SPOOLSMP".utf8)
  private static let headerByteCount = 32

  /// Length of the list in bytes.
  package static func fileByteCount(of extent: SampleExtent) -> Int {
    headerByteCount + 32 * extent.blockCount
  }

  /// The list, byte for byte.
  package var fileBytes: [UInt8] {
    func bytes<T: FixedWidthInteger>(_ value: T) -> [UInt8] {
      (0..<T.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> T($0 * 8)) }
    }
    let numbers = [1, extent.channels, extent.rate, extent.format.bits].map { UInt32($0) }
    return Self.magic + numbers.flatMap { bytes($0) } + bytes(UInt64(extent.frames))
      + leaves.flatMap(\.bytes)
  }

  /// Nil for anything else.
  package init?(fileBytes: [UInt8]) {
    guard fileBytes.count >= Self.headerByteCount, fileBytes.starts(with: Self.magic) else {
      return nil
    }
    func number(_ range: Range<Int>) -> Int? {
      Int(exactly: fileBytes[range].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    guard number(8..<12) == 1, let channels = number(12..<16), let rate = number(16..<20),
      let format = number(20..<24).flatMap(SampleFormat.init(bits:)),
      let frames = number(24..<32),
      let extent = SampleExtent(format: format, rate: rate, channels: channels, frames: frames),
      fileBytes.count == Self.fileByteCount(of: extent)
    else { return nil }
    let leaves = stride(from: Self.headerByteCount, to: fileBytes.count, by: 32).compactMap {
      Digest(bytes: Array(fileBytes[$0..<$0 + 32]))
    }
    self.init(extent, leaves: leaves)
  }

  /// Nil if there is none.
  package init?(at path: String) {
    guard let bytes = try? SubjectFile.readWhole(path, limit: Self.maximumFileByteCount) else {
      return nil
    }
    self.init(fileBytes: bytes)
  }
}
