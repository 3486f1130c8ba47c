/// Detects lost frames in a stream without a container (MP3, MP2) by byte counts.
///
/// libavformat splits such a stream at headers, so damage leaves packets longer or shorter than
/// their headers declare. Between two whole frames the byte count gives the number of lost frames:
/// exactly at a constant bit rate, else approximately.
struct StrangeBytes {
  // The average size of whole frames, smoothed over about sixteen.
  private var typicalSize = 0.0
  private var sampleCount = 0
  // Bytes of the current stretch of damage.
  private var byteCount = 0
  private var given = 0
  private var isTag = false

  /// Whether the last packet is shorter than its header declares.
  private(set) var isLastFrameCut = false
  /// Whether a stretch of damage has begun and not ended.
  var isInside: Bool { byteCount > 0 }

  /// Takes the next packet; returns the number of samples missing before it, once a stretch of
  /// damage has ended.
  mutating func gap(before packet: UnsafeRawBufferPointer) -> Int? {
    let header = unsafe ElementaryFrameHeader(packet)
    isLastFrameCut = header.map { $0.byteCount > packet.count } ?? isLastFrameCut
    guard let header, header.byteCount == packet.count else {
      // No reference before the first whole frame.
      guard typicalSize > 0 else { return nil }
      unsafe isTag = isTag || Self.isTag(packet, behind: header?.byteCount ?? 0)
      byteCount += packet.count
      return nil
    }
    let missing = Int((Double(byteCount) / max(1, typicalSize)).rounded()) * sampleCount - given
    let isLoss = isInside && !isTag && missing > 0
    let size = Double(packet.count)
    typicalSize += (size - typicalSize) / (typicalSize > 0 ? 16 : 1)
    (sampleCount, byteCount, given, isTag) = (header.sampleCount, 0, 0, false)
    return isLoss ? missing : nil
  }

  /// Records that `count` samples were decoded from the last packet.
  mutating func give(_ count: Int) {
    if isInside { given += count }
  }

  /// Whether a tag follows a frame: in concatenated files that is no damage.
  static func isTag(_ packet: UnsafeRawBufferPointer, behind count: Int) -> Bool {
    guard count < packet.count else { return false }
    let start = unsafe packet[count...].prefix(3)
    return ["ID3", "TAG", "APE"].contains { unsafe start.elementsEqual($0.utf8) }
  }
}

/// An MP2 or MP3 frame header: the byte and sample count of the frame.
///
/// These streams have no container that counts frames, so only the header distinguishes a whole
/// frame from one followed by foreign bytes.
struct ElementaryFrameHeader: Equatable {
  /// The whole frame, in bytes.
  let byteCount: Int
  /// Samples per channel.
  let sampleCount: Int

  /// Reads a header; nil for other bytes, and for the free format, which declares no length.
  ///
  /// ISO/IEC 11172-3, 2.4.2.3, and 13818-3, 2.4.2.3 for the lower rates; layers II and III.
  init?(_ bytes: UnsafeRawBufferPointer) {
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
      !isFirstVersion
      ? Self.lowerBitRates : layer == 1 ? Self.layerIIIBitRates : Self.layerIIBitRates
    let padding = unsafe Int(bytes[2] >> 1 & 1)
    sampleCount = layer == 1 && !isFirstVersion ? 576 : 1152
    byteCount = sampleCount / 8 * bitRates[bitRateIndex - 1] * 1000 / rate + padding
  }

  private static let layerIIBitRates = [
    32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384,
  ]
  private static let layerIIIBitRates = [
    32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320,
  ]
  private static let lowerBitRates = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]
}
