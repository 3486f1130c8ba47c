package import Audio
package import Foundation

extension TestSound {
  /// Writes the sound as a WAV file of 32-bit floats, for other programs to read.
  /// - Parameters:
  ///   - mask: which loudspeakers the channels are for; nil for those of the sound, about which the
  ///     file says nothing if they are mono, stereo or unknown.
  ///   - guid: the end of the identifier of the sample format, if there is a mask.
  package func writeWAV(
    to path: String, mask: UInt32? = nil,
    guid: [UInt8] = [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xAA, 0, 0x38, 0x9B, 0x71]
  ) throws {
    let isAssumed = format.positions == .assumed(of: format.channelCount)
    let mask = mask ?? (isAssumed ? nil : UInt32(format.positions.rawValue))
    let samples = interleaved
    var data = Data()
    func text(_ value: String) { data.append(contentsOf: Array(value.utf8)) }
    func number<T: FixedWidthInteger>(_ value: T) {
      var value = value.littleEndian
      unsafe withUnsafeBytes(of: &value) { unsafe data.append(contentsOf: $0) }
    }
    let rate = UInt32(format.sampleRate.value)
    let frameSize = UInt16(format.channelCount * 4)
    text("RIFF")
    number(UInt32((mask == nil ? 36 : 60) + samples.count * 4))
    text("WAVEfmt ")
    number(UInt32(mask == nil ? 16 : 40))
    number(UInt16(mask == nil ? 3 : 0xFFFE))
    number(UInt16(format.channelCount))
    number(rate)
    number(rate * UInt32(frameSize))
    number(frameSize)
    number(UInt16(32))
    if let mask {
      number(UInt16(22))
      number(UInt16(32))
      number(mask)
      number(UInt16(3))
      data.append(contentsOf: guid)
    }
    text("data")
    number(UInt32(samples.count * 4))
    for sample in samples { number(sample.bitPattern) }
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// Reads interleaved little-endian 32-bit floats without a header, as other programs write them.
  package init(rawFloats data: Data, sampleRate: Hertz, channelCount: Int) {
    let bytes = [UInt8](data)
    let frames = bytes.count / 4 / channelCount
    self.init(AudioFormat(sampleRate: sampleRate, channelCount: channelCount), frames: frames) {
      channel, frame in
      let start = (frame * channelCount + channel) * 4
      let bits = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << (8 * UInt32($1)) }
      return Float(bitPattern: bits)
    }
  }
}
