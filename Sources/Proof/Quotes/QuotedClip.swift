/// The clip of a quote: a WAV file of which every byte follows from the receipt and the blocks.
public struct QuotedClip: Hashable, Sendable {
  /// Bytes before the samples.
  public static let headerByteCount = 44

  /// The sound that it is a part of.
  public let extent: SampleExtent
  /// Which blocks it holds.
  public let blocks: Range<Int>

  /// Describes a clip; nil where a WAV file cannot be as long.
  public init?(_ blocks: Range<Int>, of extent: SampleExtent) {
    self.extent = extent
    self.blocks = blocks
    guard extent.channels <= Int(UInt16.max), extent.frameByteCount <= Int(UInt16.max),
      extent.rate * extent.frameByteCount <= Int(UInt32.max),
      byteCount <= Int(UInt32.max)
    else { return nil }
  }

  /// Bytes of its samples.
  public var sampleByteCount: Int { extent.frames(of: blocks).count * extent.frameByteCount }
  /// Bytes of the file; a chunk of an odd number of them is followed by a zero.
  public var byteCount: Int { Self.headerByteCount + sampleByteCount + padByteCount }
  /// Bytes behind the samples.
  public var padByteCount: Int { sampleByteCount % 2 }

  /// The file before the samples: `RIFF`, `fmt ` of 16 bytes and the head of `data`.
  public var header: [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
    let tag = extent.format == .f32le ? 3 : 1
    return Array("RIFF".utf8) + bytes(byteCount - 8, 4) + Array("WAVEfmt ".utf8) + bytes(16, 4)
      + bytes(tag, 2) + bytes(extent.channels, 2) + bytes(extent.rate, 4)
      + bytes(extent.rate * extent.frameByteCount, 4) + bytes(extent.frameByteCount, 2)
      + bytes(extent.format.bits, 2) + Array("data".utf8) + bytes(sampleByteCount, 4)
  }
}
