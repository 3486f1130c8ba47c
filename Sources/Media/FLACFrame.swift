internal import CLibAV
internal import CLibAVLoader

/// A frame of a FLAC stream whose blocks are all of one size, so that its header holds its number
/// (RFC 9639, section 9).
struct FLACFrame {
  let bytes: [UInt8]
  private let numberByteCount: Int
  /// Bytes of the block size and the sample rate, where they stand behind the number.
  private let extraByteCount: Int

  /// Where the number stands.
  private static let numberStart = 4

  /// Reads a header; nil for any other bytes.
  init?(_ bytes: [UInt8]) {
    // The sync code, and a zero for blocks of one size.
    guard bytes.count > Self.numberStart, bytes[0] == 0xff, bytes[1] == 0xf8 else { return nil }
    switch (~bytes[Self.numberStart]).leadingZeroBitCount {
    case 0: numberByteCount = 1
    case let count where (2...6).contains(count): numberByteCount = count
    default: return nil
    }
    let blockSize =
      switch bytes[2] >> 4 {
      case 6: 1
      case 7: 2
      default: 0
      }
    let sampleRate =
      switch bytes[2] & 15 {
      case 12: 1
      case 13, 14: 2
      default: 0
      }
    extraByteCount = blockSize + sampleRate
    // The checks of the header and the frame follow, at the least.
    guard bytes.count >= Self.numberStart + numberByteCount + extraByteCount + 3 else {
      return nil
    }
    self.bytes = bytes
  }

  /// How the channels are put together.
  var assignment: UInt8 { bytes[3] >> 4 }

  /// The frame's bytes with another number, and with its two checks made anew. O(bytes).
  func numbered(_ number: Int) -> [UInt8] {
    numbered(number, body: bytes[bodyStart...].dropLast(2))
  }

  /// The bytes of the frame with this number, and with this `body` between header and check.
  func numbered(_ number: Int, body: some Collection<UInt8>) -> [UInt8] {
    var result = Array(bytes[..<Self.numberStart])
    result.reserveCapacity(body.count + 18)
    result += Self.code(number)
    result += bytes[(Self.numberStart + numberByteCount)..<(bodyStart - 1)]
    result.append(UInt8(truncatingIfNeeded: Self.check(result, AV_CRC_8_ATM)))
    result += body
    // libavutil gives this check with its bytes swapped.
    let check = Self.check(result, AV_CRC_16_ANSI)
    result += [UInt8(truncatingIfNeeded: check), UInt8(truncatingIfNeeded: check >> 8)]
    return result
  }

  // Behind the header and its check.
  private var bodyStart: Int { Self.numberStart + numberByteCount + extraByteCount + 1 }

  /// A number below 2³¹ in one to six bytes, as UTF-8 once had them (RFC 9639, section 9.1.5).
  static func code(_ number: Int) -> [UInt8] {
    precondition(number >= 0 && number < 1 << 31, "FLAC numbers frames in 31 bits")
    guard number >= 0x80 else { return [UInt8(number)] }
    var rest = number
    var followers: [UInt8] = []
    // The first byte has one bit less for each that follows.
    while rest >= 0x40 >> followers.count {
      followers.append(UInt8(0x80 | rest & 0x3f))
      rest >>= 6
    }
    let mark = UInt8(truncatingIfNeeded: 0xff00 >> (followers.count + 1))
    return [mark | UInt8(rest)] + followers.reversed()
  }

  private static func check(_ bytes: [UInt8], _ kind: AVCRCId) -> UInt32 {
    unsafe av_crc(av_crc_get_table(kind), 0, bytes, bytes.count)
  }
}
