import Audio
import CLibAV
import CLibAVLoader

/// Converts planar floats to an encoder's sample format.
///
/// Samples on the integer grid arrive exactly; others are rounded to the nearest value and clipped
/// to full scale. NaN becomes the lowest value.
enum SampleWriter {
  /// Fills `frame`, which has room, with the samples of `block`. With `bits`, integer samples use
  /// that many of the highest bits.
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

  /// The frames of `range` as interleaved little-endian integers of 16 or 24 bits, with the values
  /// of ``write(_:as:bits:into:)``. O(samples).
  static func packed(
    _ block: borrowing AudioBuffer, _ range: Range<Int>, bits: Int
  ) -> [UInt8] {
    precondition(bits == 16 || bits == 24)
    // Two loops, to decide outside the loop.
    if bits == 24 {
      return unsafe pack(block, range, sampleByteCount: 3) { sample, place in
        let value = integer(sample, scale: 0x1p23)
        unsafe place.storeBytes(
          of: UInt16(truncatingIfNeeded: value).littleEndian, as: UInt16.self)
        unsafe place.storeBytes(
          of: UInt8(truncatingIfNeeded: value &>> 16), toByteOffset: 2, as: UInt8.self)
      }
    }
    return unsafe pack(block, range, sampleByteCount: 2) { sample, place in
      let value = integer(sample, scale: 0x1p15)
      unsafe place.storeBytes(of: UInt16(truncatingIfNeeded: value).littleEndian, as: UInt16.self)
    }
  }

  /// The frames of `range` as interleaved little-endian 32-bit floats. O(samples).
  static func packedFloats(_ block: borrowing AudioBuffer, _ range: Range<Int>) -> [UInt8] {
    unsafe pack(block, range, sampleByteCount: 4) { sample, place in
      unsafe place.storeBytes(of: sample.bitPattern.littleEndian, as: UInt32.self)
    }
  }

  /// Interleaves the frames of `range`; `store` writes a sample to its place.
  @inline(__always)
  private static func pack(
    _ block: borrowing AudioBuffer, _ range: Range<Int>, sampleByteCount: Int,
    _ store: (Float, UnsafeMutableRawPointer) -> Void
  ) -> [UInt8] {
    precondition(range.lowerBound >= 0 && range.upperBound <= block.frameCount.count)
    let stride = block.channelCount * sampleByteCount
    let byteCount = range.count * stride
    return unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { bytes, initializedCount in
      guard let target = UnsafeMutableRawPointer(bytes.baseAddress) else { return }
      for channel in 0..<block.channelCount {
        let source = unsafe UnsafePointer(block.baseAddress(ofChannel: channel))
        var place = unsafe target + channel * sampleByteCount
        for index in range {
          unsafe store(source[index], place)
          unsafe place += stride
        }
      }
      initializedCount = byteCount
    }
  }
}
