import Audio
import CLibAV
import CLibAVLoader

/// A FLAC frame with fixed block size, whose header holds its number (RFC 9639, section 9).
struct FLACFrame {
  let bytes: [UInt8]
  private let header: Header

  /// Reads a header; nil for any other bytes.
  init?(_ bytes: [UInt8]) {
    // At least the frame's CRC follows.
    guard let header = Header(bytes), header.hasFixedBlockSize,
      bytes.count >= header.byteCount + 2
    else { return nil }
    self.bytes = bytes
    self.header = header
  }

  var assignment: UInt8 { bytes[3] >> 4 }

  /// The frame with another number and recomputed CRCs. O(bytes).
  func numbered(_ number: Int) -> [UInt8] {
    numbered(number, body: bytes[header.byteCount...].dropLast(2))
  }

  /// The frame with this number and `body`.
  func numbered(_ number: Int, body: some Collection<UInt8>) -> [UInt8] {
    let start = Header.numberStart
    var result = Array(bytes[..<start])
    result.reserveCapacity(body.count + 18)
    result += Self.code(number)
    result += bytes[(start + header.numberByteCount)..<(header.byteCount - 1)]
    result.append(UInt8(truncatingIfNeeded: Self.check(result, AV_CRC_8_ATM)))
    result += body
    // libavutil returns this CRC byte-swapped.
    let check = Self.check(result, AV_CRC_16_ANSI)
    result += [UInt8(truncatingIfNeeded: check), UInt8(truncatingIfNeeded: check >> 8)]
    return result
  }

  /// A number below 2³¹ in the extended UTF-8 code of one to six bytes (RFC 9639, section 9.1.5).
  static func code(_ number: Int) -> [UInt8] {
    precondition(number >= 0 && number < 1 << 31, "FLAC numbers frames in 31 bits")
    guard number >= 0x80 else { return [UInt8(number)] }
    var rest = number
    var followers: [UInt8] = []
    // Each continuation byte takes a bit from the first byte.
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

  /// The bytes between the header and the CRC with a block's verbatim integer samples of `bits`
  /// (RFC 9639, sections 9.2.2 to 9.2.4).
  func plainBody(of block: borrowing AudioBuffer, bits: Int) -> [UInt8] {
    var writer = PacketWriter(
      byteCount: block.channelCount * (4 * block.frameCount.count + 8))
    for channel in 0..<block.channelCount {
      let part = Self.part(channel, assignment)
      // A difference needs one more bit.
      let width = part == .side ? bits + 1 : bits
      Self.write(Self.samples(block, channel, part, bits), width: width, to: &writer)
    }
    return writer.wholeBytes
  }

  /// The signal of a subframe.
  private enum Part {
    case itself, mid, side
  }

  /// Section 9.1.3.
  private static func part(_ channel: Int, _ assignment: UInt8) -> Part {
    switch (assignment, channel) {
    case (8, 1), (9, 0), (10, 1): .side
    case (10, 0): .mid
    default: .itself
    }
  }

  private static func samples(
    _ block: borrowing AudioBuffer, _ channel: Int, _ part: Part, _ bits: Int
  ) -> [Int32] {
    let scale = Double(1 << (bits - 1))
    func integers(_ channel: Int) -> [Int32] {
      let source = block.channel(channel)
      return source.indices.map { SampleWriter.integer(source[$0], scale: scale) }
    }
    switch part {
    case .itself: return integers(channel)
    case .mid: return zip(integers(0), integers(1)).map { ($0 + $1) >> 1 }
    case .side: return zip(integers(0), integers(1)).map { $0 - $1 }
    }
  }

  /// Writes a subframe without the low bits that are zero in all samples (wasted bits).
  private static func write(_ samples: [Int32], width: Int, to writer: inout PacketWriter) {
    let used = samples.reduce(0, |)
    let wasted = used == 0 ? 0 : used.trailingZeroBitCount
    let isConstant = samples.allSatisfy { $0 == samples.first }
    writer.append(isConstant ? 0 : 1, count: 7)
    writer.append(wasted > 0 ? 1 : 0, count: 1)
    if wasted > 0 { writer.append(1, count: wasted) }
    let mask = UInt32(1) << UInt32(width - wasted) - 1
    for sample in isConstant ? samples.prefix(1) : samples[...] {
      writer.append(UInt32(bitPattern: sample >> Int32(wasted)) & mask, count: width - wasted)
    }
  }

  /// The header of a FLAC frame (RFC 9639, section 9.1).
  struct Header {
    /// The first sample's number if blocks have several sizes, else the frame's.
    let number: Int
    let numberByteCount: Int
    let hasFixedBlockSize: Bool
    /// Samples of each channel.
    let sampleCount: Int
    /// The header's length, with its CRC.
    let byteCount: Int

    static let numberStart = 4

    /// Reads the header at the start of the bytes; nil if there is none, by its CRC.
    init?(_ bytes: some Collection<UInt8>) {
      let bytes = Array(bytes.prefix(16))
      guard bytes.count >= 6, bytes[0] == 0xff, bytes[1] & 0xfe == 0xf8, bytes[3] & 1 == 0,
        let (number, numberByteCount) = Self.number(bytes[Self.numberStart...])
      else { return nil }
      self.number = number
      self.numberByteCount = numberByteCount
      hasFixedBlockSize = bytes[1] & 1 == 0
      var end = Self.numberStart + numberByteCount
      func taken(_ count: Int) -> Int? {
        guard end + count <= bytes.count else { return nil }
        defer { end += count }
        return Int(bigEndianBytes: bytes[end..<end + count])
      }
      let size: Int?
      switch bytes[2] >> 4 {
      case 0: size = nil
      case 1: size = 192
      case 6: size = taken(1).map { $0 + 1 }
      case 7: size = taken(2).map { $0 + 1 }
      case let code where code < 6: size = 144 << Int(code)
      case let code: size = 1 << Int(code)
      }
      switch bytes[2] & 15 {
      case 12: _ = taken(1)
      case 13, 14: _ = taken(2)
      case 15: return nil
      default: break
      }
      guard let size, end < bytes.count, Self.check8(bytes[..<end]) == bytes[end] else {
        return nil
      }
      sampleCount = size
      byteCount = end + 1
    }

    /// The frame's samples.
    /// - Parameter blockSize: the size in the stream header, for streams with frame numbers.
    func samples(blockSize: Int) -> Range<Int> {
      let first = hasFixedBlockSize ? number * blockSize : number
      return first..<first + sampleCount
    }

    /// Whether the bytes end with the CRC of all before.
    static func isWhole(_ bytes: ArraySlice<UInt8>) -> Bool {
      var check: UInt16 = 0
      for byte in bytes {
        check ^= UInt16(byte) << 8
        for _ in 0..<8 { check = check & 0x8000 != 0 ? check << 1 ^ 0x8005 : check << 1 }
      }
      return check == 0
    }

    private static func check8(_ bytes: ArraySlice<UInt8>) -> UInt8 {
      bytes.reduce(UInt8(0)) { check, byte in
        (0..<8).reduce(check ^ byte) { check, _ in check & 0x80 != 0 ? check << 1 ^ 7 : check << 1 }
      }
    }

    /// A number in the extended UTF-8 code of one to seven bytes.
    private static func number(_ bytes: ArraySlice<UInt8>) -> (Int, byteCount: Int)? {
      guard let first = bytes.first else { return nil }
      let count = (~first).leadingZeroBitCount
      if count == 0 { return (Int(first), 1) }
      guard (2...7).contains(count), bytes.count >= count else { return nil }
      var number = Int(first & UInt8(truncatingIfNeeded: 0x7f >> count))
      for byte in bytes.dropFirst().prefix(count - 1) {
        guard byte & 0xc0 == 0x80 else { return nil }
        number = number << 6 | Int(byte & 0x3f)
      }
      return (number, count)
    }
  }
}
