public import Hashing

/// Hashes the blocks of sound that goes by, in pieces of any length.
///
/// What is half a block when the process dies is needed again: whoever goes on begins at
/// ``framesInLeaves``, and nothing but whole leaves has to be kept.
public struct SampleLeafHasher: ~Copyable {
  /// The hashes of the blocks that are whole.
  public private(set) var leaves: [Digest]

  private let rate: Int
  private let frameByteCount: Int
  private var block = SampleLeafHasher.begun()
  // Bytes of the block that is not whole.
  private var byteCount = 0

  /// Begins, or goes on behind the leaves that are there.
  public init(format: SampleFormat, rate: Int, channels: Int, leaves: [Digest] = []) {
    self.rate = rate
    frameByteCount = channels * format.bits / 8
    self.leaves = leaves
  }

  /// How many frames the whole blocks have.
  public var framesInLeaves: Int { leaves.count * rate }

  /// Adds samples: whole frames, as ``SampleFormat`` has them. O(bytes).
  public mutating func update(_ bytes: [UInt8]) {
    let blockByteCount = rate * frameByteCount
    var rest = bytes.count
    unsafe bytes.withUnsafeBytes { bytes in
      while rest > 0 {
        let count = min(rest, blockByteCount - byteCount)
        let start = bytes.count - rest
        unsafe block.update(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        byteCount += count
        rest -= count
        if byteCount == blockByteCount { endBlock() }
      }
    }
  }

  /// The sound has ended: the last block may be shorter than the others.
  /// - Returns: how many frames there were in all.
  public mutating func finish() -> Int {
    let frames = framesInLeaves + byteCount / frameByteCount
    if byteCount > 0 { endBlock() }
    return frames
  }

  private mutating func endBlock() {
    leaves.append(block.current)
    block = Self.begun()
    byteCount = 0
  }

  private static func begun() -> SHA256 {
    var hasher = SHA256()
    hasher.update([0])
    return hasher
  }
}
