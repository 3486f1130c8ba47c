import Audio
import CLibAV
import CLibAVLoader

/// The MD5 of a stream's samples up to a frame, as stored in FLAC files: whole bytes,
/// little-endian, interleaved channels (RFC 9639, section 8.2).
struct SampleHash: Hashable, Sendable, Codable {
  /// The number of frames hashed.
  private(set) var frames = 0
  private var md5 = MD5()

  // Fits the processor's cache.
  private static let framesAtOnce = 1024

  /// 16 bytes.
  var digest: [UInt8] { md5.digest }

  /// Adds a block of integer samples of `bits`; its first frame has the number `start`, which is at
  /// most `frames`. Frames already hashed are skipped. O(samples).
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

/// A running MD5 of libavutil as a value: a copy continues from the point of copying, also in
/// another process with the same libavutil.
struct MD5: Hashable, Sendable {
  // An `AVMD5`, in words for its alignment.
  private var state: [UInt64]

  init() {
    state = [UInt64](repeating: 0, count: Self.wordCount)
    unsafe withContext { unsafe av_md5_init($0) }
  }

  mutating func update(_ bytes: [UInt8]) {
    unsafe withContext { unsafe av_md5_update($0, bytes, bytes.count) }
  }

  var digest: [UInt8] {
    var copy = self
    var digest = [UInt8](repeating: 0, count: 16)
    unsafe copy.withContext { unsafe av_md5_final($0, &digest) }
    return digest
  }

  private static var wordCount: Int { (spool_md5_size() + 7) / 8 }

  private mutating func withContext(_ work: (OpaquePointer) -> Void) {
    unsafe state.withUnsafeMutableBytes { bytes in
      guard let start = bytes.baseAddress else { return }
      unsafe work(OpaquePointer(start))
    }
  }
}

extension MD5: Codable {
  /// Throws if the state has another size.
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    state = try container.decode([UInt64].self)
    guard state.count == Self.wordCount else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "the state of an MD5 has \(Self.wordCount) words")
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(state)
  }
}
