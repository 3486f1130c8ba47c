/// The header of one frame of MP2 or MP3: how many bytes and samples the frame has.
///
/// Streams of these have no container that counts the frames, so a frame's own header is all that
/// tells a whole frame from one with strange bytes behind it.
struct ElementaryFrameHeader: Equatable {
  /// The whole frame, in bytes.
  let byteCount: Int
  /// How many samples it makes in each channel.
  let sampleCount: Int

  /// Reads a header; nil where there is none, and for the free format, which tells no length.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard let found = unsafe Self.mpeg(bytes) else { return nil }
    self = found
  }

  private init(byteCount: Int, sampleCount: Int) {
    self.byteCount = byteCount
    self.sampleCount = sampleCount
  }

  /// ISO/IEC 11172-3, 2.4.2.3, and 13818-3, 2.4.2.3 for the lower rates; layers II and III.
  private static func mpeg(_ bytes: UnsafeRawBufferPointer) -> ElementaryFrameHeader? {
    guard bytes.count >= 4, unsafe bytes[0] == 0xFF, unsafe bytes[1] & 0xE0 == 0xE0 else {
      return nil
    }
    let (version, layer) = unsafe (bytes[1] >> 3 & 3, bytes[1] >> 1 & 3)
    let (rateIndex, bitRateIndex) = unsafe (Int(bytes[2] >> 2 & 3), Int(bytes[2] >> 4))
    guard version != 1, layer == 1 || layer == 2, rateIndex < 3, (1..<15).contains(bitRateIndex)
    else { return nil }
    let isFirstVersion = version == 3
    // Halved in MPEG-2, and again in 2.5.
    let rate = [44100, 48000, 32000][rateIndex] >> (isFirstVersion ? 0 : version == 2 ? 1 : 2)
    let bitRates =
      !isFirstVersion ? lowerBitRates : layer == 1 ? layerIIIBitRates : layerIIBitRates
    let padding = unsafe Int(bytes[2] >> 1 & 1)
    let sampleCount = layer == 1 && !isFirstVersion ? 576 : 1152
    return ElementaryFrameHeader(
      byteCount: sampleCount / 8 * bitRates[bitRateIndex - 1] * 1000 / rate + padding,
      sampleCount: sampleCount)
  }

  private static let layerIIBitRates = [
    32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384,
  ]
  private static let layerIIIBitRates = [
    32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320,
  ]
  private static let lowerBitRates = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
}
