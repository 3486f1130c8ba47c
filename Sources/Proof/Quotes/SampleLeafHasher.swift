package import Platform

/// Hashes the blocks of streamed sound.
///
/// Only complete leaves need to be kept: after an interruption, hashing resumes at
/// ``framesInLeaves``.
package struct SampleLeafHasher: ~Copyable {
  /// The hashes of the complete blocks.
  package private(set) var leaves: [Digest]

  private let rate: Int
  private let frameByteCount: Int
  private var block = SampleLeafHasher.begun()
  // Bytes of the incomplete block.
  private var byteCount = 0

  /// Starts, or resumes after the given leaves.
  package init(format: SampleFormat, rate: Int, channels: Int, leaves: [Digest] = []) {
    self.rate = rate
    frameByteCount = channels * format.bits / 8
    self.leaves = leaves
  }

  /// Frames in the complete blocks.
  package var framesInLeaves: Int { leaves.count * rate }

  /// Adds whole frames, as ``SampleFormat`` has them. O(bytes).
  package mutating func update(_ bytes: [UInt8]) {
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

  /// Hashes the last block, which may be shorter.
  /// - Returns: the total number of frames.
  package mutating func finish() -> Int {
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
