internal import AudioModel

/// The MD5 of a stream's samples up to a frame, as FLAC files hold it: of whole bytes, the lowest
/// first, and with the channels interleaved (RFC 9639, section 8.2).
struct SampleHash: Hashable, Sendable, Codable {
  /// Frames from the start of the stream that are in it.
  private(set) var frames = 0
  private var md5 = MD5()

  // Few enough that they stay in the processor's cache.
  private static let framesAtOnce = 1024

  /// The digest of the samples so far: 16 bytes.
  var digest: [UInt8] { md5.digest }

  /// Adds a block of integer samples of `bits`; its first frame has the number `start`, which is no
  /// later than what comes next. Frames that are in the hash are passed over. O(samples).
  mutating func add(_ block: borrowing AudioBuffer, at start: Int, bits: Int) {
    precondition(start <= frames, "the sound has a hole")
    let end = start + block.frameCount.count
    while frames < end {
      let next = min(frames + Self.framesAtOnce, end)
      md5.update(SampleWriter.packed(block, frames - start..<next - start, bits: bits))
      frames = next
    }
  }
}
