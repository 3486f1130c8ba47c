internal import AudioModel
internal import CLibAV
internal import CLibAVLoader

/// Writes planar floats as the samples that an encoder takes.
///
/// Samples that lie on the integers' grid arrive exactly; others are rounded to the nearest value,
/// and what is beyond full scale is cut off. What is not a number becomes the lowest value.
enum SampleWriter {
  /// Fills `frame`, which has room for them, with the samples of `block`. With `bits`, integer
  /// samples use that many of the highest bits.
  static func write(
    _ block: borrowing AudioBuffer, as format: AVSampleFormat, bits: Int?,
    into frame: borrowing Frame
  ) {
    let isPlanar = av_sample_fmt_is_planar(format) != 0
    let stride = isPlanar ? 1 : block.channelCount
    let count = block.frameCount.count
    for channel in 0..<block.channelCount {
      guard let plane = unsafe frame.pointer.pointee.extended_data[isPlanar ? channel : 0] else {
        continue
      }
      let source = unsafe UnsafePointer(block.baseAddress(ofChannel: channel))
      let target = UnsafeMutableRawPointer(plane)
      let first = isPlanar ? 0 : channel
      switch format {
      case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P:
        let samples = unsafe target.assumingMemoryBound(to: Int16.self) + first
        for index in 0..<count {
          unsafe samples[index &* stride] = Int16(
            truncatingIfNeeded: integer(source[index], scale: 0x1p15))
        }
      case AV_SAMPLE_FMT_S32, AV_SAMPLE_FMT_S32P:
        let samples = unsafe target.assumingMemoryBound(to: Int32.self) + first
        let unused = Int32(32 - (bits ?? 32))
        let scale = unused == 8 ? 0x1p23 : 0x1p31
        for index in 0..<count {
          unsafe samples[index &* stride] = integer(source[index], scale: scale) &<< unused
        }
      default:
        let samples = unsafe target.assumingMemoryBound(to: Float.self) + first
        for index in 0..<count { unsafe samples[index &* stride] = unsafe source[index] }
      }
    }
  }

  /// The nearest integer to `sample · scale`, halves to even, within −scale … scale − 1.
  @inline(__always)
  static func integer(_ sample: Float, scale: Double) -> Int32 {
    let value = max(-scale, min(Double(sample) * scale, scale - 1))
    // Adding 1.5 · 2⁵² leaves the rounded integer in the low bits of the sum; unlike a conversion
    // after `rounded()` this needs no call and no branch on any x86 processor.
    return Int32(truncatingIfNeeded: (value + 0x1.8p52).bitPattern)
  }
}
