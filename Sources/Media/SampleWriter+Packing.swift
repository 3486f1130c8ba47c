internal import AudioModel

extension SampleWriter {
  /// The frames of `range` as interleaved integers of 16 or 24 bits, the lowest byte first: the same
  /// values that ``write(_:as:bits:into:)`` gives. O(samples).
  static func packed(
    _ block: borrowing AudioBuffer, _ range: Range<Int>, bits: Int
  ) -> [UInt8] {
    precondition(bits == 16 || bits == 24)
    precondition(range.lowerBound >= 0 && range.upperBound <= block.frameCount.count)
    let width = bits / 8
    let stride = block.channelCount * width
    let byteCount = range.count * stride
    return unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { bytes, initializedCount in
      guard let target = UnsafeMutableRawPointer(bytes.baseAddress) else { return }
      for channel in 0..<block.channelCount {
        let source =
          unsafe UnsafePointer(block.baseAddress(ofChannel: channel))
          + range.lowerBound
        let place = unsafe target + channel * width
        // Two loops, so that neither decides anything for each sample.
        if bits == 24 {
          unsafe pack24(source, range.count, into: place, stride: stride)
        } else {
          unsafe pack16(source, range.count, into: place, stride: stride)
        }
      }
      initializedCount = byteCount
    }
  }

  private static func pack16(
    _ source: UnsafePointer<Float>, _ count: Int, into target: UnsafeMutableRawPointer, stride: Int
  ) {
    var offset = 0
    for index in 0..<count {
      let value = unsafe integer(source[index], scale: 0x1p15)
      unsafe target.storeBytes(
        of: UInt16(truncatingIfNeeded: value).littleEndian, toByteOffset: offset, as: UInt16.self)
      offset &+= stride
    }
  }

  private static func pack24(
    _ source: UnsafePointer<Float>, _ count: Int, into target: UnsafeMutableRawPointer, stride: Int
  ) {
    var offset = 0
    for index in 0..<count {
      let value = unsafe integer(source[index], scale: 0x1p23)
      unsafe target.storeBytes(
        of: UInt16(truncatingIfNeeded: value).littleEndian, toByteOffset: offset, as: UInt16.self)
      unsafe target.storeBytes(
        of: UInt8(truncatingIfNeeded: value &>> 16), toByteOffset: offset &+ 2, as: UInt8.self)
      offset &+= stride
    }
  }

  /// The frames of `range` as interleaved 32-bit floats, the lowest byte first. O(samples).
  static func packedFloats(_ block: borrowing AudioBuffer, _ range: Range<Int>) -> [UInt8] {
    let stride = block.channelCount * 4
    var bytes = [UInt8](repeating: 0, count: range.count * stride)
    for channel in 0..<block.channelCount {
      let source = block.channel(channel)
      unsafe bytes.withUnsafeMutableBytes { target in
        var offset = channel * 4
        for index in range {
          unsafe target.storeBytes(
            of: source[index].bitPattern.littleEndian, toByteOffset: offset, as: UInt32.self)
          offset &+= stride
        }
      }
    }
    return bytes
  }
}
