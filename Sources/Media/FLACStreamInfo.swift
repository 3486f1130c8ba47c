internal import CLibAV

/// What a FLAC file says at its beginning of the whole stream (RFC 9639, section 8.2).
///
/// An encoder that knows only its chunk cannot tell; so this watches the stream's frames go by.
struct FLACStreamInfo {
  private let initial: [UInt8]
  private var smallestFrame: Int
  private var largestFrame = 0

  static let byteCount = 34

  /// Takes what an encoder says before the first frame; nil where that is not FLAC's.
  init?(of encoder: borrowing EncoderContext) {
    let context = unsafe encoder.context
    guard unsafe context.pointee.extradata_size == Int32(Self.byteCount) else { return nil }
    initial = unsafe Array(
      UnsafeBufferPointer(start: context.pointee.extradata, count: Self.byteCount))
    // The size that no frame has more than.
    smallestFrame = initial[7..<10].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Takes note of a frame of so many bytes.
  mutating func add(frameOf byteCount: Int) {
    smallestFrame = min(smallestFrame, byteCount)
    largestFrame = max(largestFrame, byteCount)
  }

  /// The bytes for a stream of `frameCount` sample frames, whose samples have this MD5.
  func bytes(frameCount: Int, md5: [UInt8]) -> [UInt8] {
    var bytes = initial
    func put(_ value: Int, at start: Int, count: Int) {
      for index in 0..<count {
        bytes[start + index] = UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - index)))
      }
    }
    put(smallestFrame, at: 4, count: 3)
    put(largestFrame, at: 7, count: 3)
    // 36 bits, of which the first four share a byte with the sample size.
    bytes[13] = bytes[13] & 0xf0 | UInt8(truncatingIfNeeded: frameCount >> 32 & 15)
    put(frameCount, at: 14, count: 4)
    bytes.replaceSubrange(18..<Self.byteCount, with: md5)
    return bytes
  }
}
