internal import AudioModel

/// Makes the packet of Apple Lossless surround sound whose last packet has a single frame.
///
/// For 4, 6 and 8 channels libavcodec's encoder reserves too little room for it and ends the
/// process, and one recording in 4096 is so long. The samples are written as they are; the elements
/// and the order of the channels are those of Apple's published codec
/// (github.com/macosforge/alac: ALACEncoder.cpp, sChannelMaps; ALACAudioTypes.h, ALACChannelLayoutTag).
struct ALACLoneFrame {
  /// Whether a packet is made here and not by libavcodec.
  static func makes(_ frameCount: Int, of settings: EncoderSettings) -> Bool {
    settings.codec == "alac" && !settings.hasOwnEncoder && frameCount == 1
      && order.indices.contains(settings.format.channelCount)
  }

  /// For each number of channels, the elements, each of one channel or a pair, as the places of
  /// their channels in libavutil's order.
  private static let order: [[[Int]]] = [
    [], [[0]], [[0, 1]], [[2], [0, 1]], [[2], [0, 1], [3]], [[2], [0, 1], [3, 4]],
    [[2], [0, 1], [4, 5], [3]], [[2], [0, 1], [4, 5], [6], [3]],
    [[2], [6, 7], [0, 1], [4, 5], [3]],
  ]

  /// The packet of a block of one frame. Samples that are not on the grid of `bits` are rounded.
  static func packet(of block: borrowing AudioBuffer, bits: Int) -> [UInt8] {
    let elements = order[block.channelCount]
    let scale = Double(1 << (bits - 1))
    let mask = UInt32(1) << UInt32(bits) - 1
    var writer = PacketWriter(byteCount: 16 * block.channelCount + 64)
    for channels in elements {
      // The element's kind and number, twelve bits of nothing; then that the number of frames
      // follows, that no bits are set apart, and that the samples are plain.
      writer.append(channels.count == 2 ? 1 : 0, count: 3)
      writer.append(0, count: 16)
      writer.append(0b1001, count: 4)
      writer.append(1, count: 32)
      for channel in channels {
        let sample = SampleWriter.integer(block.channel(channel)[0], scale: scale)
        writer.append(UInt32(bitPattern: sample) & mask, count: bits)
      }
    }
    writer.append(7, count: 3)
    return writer.wholeBytes
  }
}
