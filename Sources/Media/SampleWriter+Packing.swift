internal import AudioModel

extension SampleWriter {
  /// The frames of `range` as interleaved integers of `bits`, a multiple of eight, the lowest byte
  /// first: the same values that ``write(_:as:bits:into:)`` gives. O(samples).
  static func packed(
    _ block: borrowing AudioBuffer, _ range: Range<Int>, bits: Int
  ) -> [UInt8] {
    let width = bits / 8
    let stride = block.channelCount * width
    let scale = Double(1 << (bits - 1))
    var bytes = [UInt8](repeating: 0, count: range.count * stride)
    var target = bytes.mutableSpan
    for channel in 0..<block.channelCount {
      let source = block.channel(channel)
      var offset = channel * width
      for index in range {
        let value = integer(source[index], scale: scale)
        // The offsets stay within the array, which was made for them.
        for byte in 0..<width {
          unsafe target[unchecked: offset &+ byte] = UInt8(
            truncatingIfNeeded: value &>> Int32(8 &* byte))
        }
        offset &+= stride
      }
    }
    return bytes
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
