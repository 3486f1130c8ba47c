import Audio

/// Encodes Apple Lossless packets of one or two channels of 16 or 24 bits, after Apple's published
/// codec (github.com/macosforge/alac: ALACEncoder.cpp, dp_enc.c, ag_enc.c).
///
/// The lowest eight of 24 bits are mostly noise and stored uncompressed. The bits above, as left
/// and right or mid and side, are predicted by an adaptive filter, and the residual is stored in
/// adaptive Golomb codes. Packets are independent.
struct ALACFrame: ~Copyable {
  /// Frames in every packet but the last.
  static let length = 4096
  /// Raised with every change of the output bytes.
  static let revision = 1

  private let channelCount: Int
  private let bits: Int
  private var left = [Int32](repeating: 0, count: length)
  private var right = [Int32](repeating: 0, count: length)
  // The predicted signals: the channels, or mid and side.
  private var first = [Int32](repeating: 0, count: length)
  private var second = [Int32](repeating: 0, count: length)
  private var firstRest = [Int32](repeating: 0, count: length)
  private var secondRest = [Int32](repeating: 0, count: length)
  private var writer = PacketWriter(byteCount: 0)

  /// Room for packets of one or two channels of 16 or 24 bits.
  init(channelCount: Int, bits: Int) {
    precondition((1...2).contains(channelCount) && (bits == 16 || bits == 24))
    self.channelCount = channelCount
    self.bits = bits
    // Escaped residuals are the longest code.
    writer = PacketWriter(byteCount: Self.length * channelCount * 5 + 64)
  }

  private var plainBits: Int { bits - 16 }

  /// Bits of the predicted signal: a difference needs one more.
  private var width: Int { 16 + channelCount - 1 }

  /// The packet of a block of at most ``length`` frames. Samples off the grid are rounded.
  /// O(samples).
  mutating func packet(of block: borrowing AudioBuffer) -> [UInt8] {
    let count = block.frameCount.count
    precondition((1...Self.length).contains(count) && block.channelCount == channelCount)
    read(block)
    writer.clear()
    writeHead(count, isPlain: false)
    let pairing = separate(count)
    writer.append(UInt32(pairing.shift), count: 8)
    writer.append(pairing.isUsed ? 1 : 0, count: 8)
    let filter = ALACFrame.Predictor(for: first, count)
    let secondFilter = channelCount == 2 ? ALACFrame.Predictor(for: second, count) : filter
    filter.write(to: &writer)
    if channelCount == 2 { secondFilter.write(to: &writer) }
    writePlainBits(count)
    let isExact: Bool
    if channelCount == 2 {
      isExact = ALACFrame.Predictor.predict(
        first, second, count, width: width, filter, secondFilter,
        &firstRest, &secondRest)
    } else {
      isExact = filter.predict(first, count, width: width, &firstRest)
    }
    ALACEntropy.write(firstRest, count, width: width, to: &writer)
    if channelCount == 2 { ALACEntropy.write(secondRest, count, width: width, to: &writer) }
    // Full-scale noise does not compress, and a decoder's 32-bit overflow is undefined: both are
    // stored plain.
    if !isExact || writer.bitCount > headBitCount(count) + count * channelCount * bits {
      writePlain(count)
    }
    writer.append(7, count: 3)
    return writer.wholeBytes
  }

  private mutating func read(_ block: borrowing AudioBuffer) {
    let scale = Double(1 << (bits - 1))
    Self.read(block.channel(0), scale: scale, into: &left)
    if channelCount == 2 { Self.read(block.channel(1), scale: scale, into: &right) }
  }

  private static func read(_ samples: Span<Float>, scale: Double, into target: inout [Int32]) {
    var target = target.mutableSpan
    for index in samples.indices {
      unsafe target[unchecked: index] = SampleWriter.integer(
        samples[unchecked: index], scale: scale)
    }
  }

  private mutating func separate(_ count: Int) -> ALACPairing {
    let shift = Int32(plainBits)
    guard channelCount == 2 else {
      for index in 0..<count { first[index] = left[index] &>> shift }
      return .none
    }
    let pairing = ALACPairing(for: left, right, count, plainBits: shift)
    pairing.apply(left, right, count, plainBits: shift, &first, &second)
    return pairing
  }

  private func headBitCount(_ count: Int) -> Int { count < Self.length ? 55 : 23 }

  /// Writes the element type, and the frame count of a short packet.
  private mutating func writeHead(_ count: Int, isPlain: Bool) {
    writer.append(channelCount == 2 ? 1 : 0, count: 3)
    writer.append(0, count: 16)
    writer.append(count < Self.length ? 1 : 0, count: 1)
    writer.append(isPlain ? 0 : UInt32(plainBits / 8), count: 2)
    writer.append(isPlain ? 1 : 0, count: 1)
    if count < Self.length { writer.append(UInt32(count), count: 32) }
  }

  private mutating func writePlainBits(_ count: Int) {
    guard plainBits > 0 else { return }
    for index in 0..<count {
      writer.append(UInt32(bitPattern: left[index]) & 0xff, count: 8)
      if channelCount == 2 { writer.append(UInt32(bitPattern: right[index]) & 0xff, count: 8) }
    }
  }

  private mutating func writePlain(_ count: Int) {
    writer.clear()
    writeHead(count, isPlain: true)
    let mask = UInt32(1) << UInt32(bits) - 1
    for index in 0..<count {
      writer.append(UInt32(bitPattern: left[index]) & mask, count: bits)
      if channelCount == 2 {
        writer.append(UInt32(bitPattern: right[index]) & mask, count: bits)
      }
    }
  }
}

/// Surround packets with a single frame.
///
/// For 4, 6 and 8 channels libavcodec's encoder allocates too little memory for one and aborts; one
/// recording in 4096 ends this way. Samples are stored plain; elements and channel order follow
/// Apple's published codec (github.com/macosforge/alac: ALACEncoder.cpp, sChannelMaps;
/// ALACAudioTypes.h, ALACChannelLayoutTag).
extension ALACFrame {
  /// Whether this type encodes a packet instead of libavcodec.
  static func isLone(_ frameCount: Int, of settings: EncoderSettings) -> Bool {
    settings.codec == "alac" && !settings.hasOwnEncoder && frameCount == 1
      && elements.indices.contains(settings.format.channelCount)
  }

  /// For each channel count, the elements of one channel or a pair, as indices in libavutil's
  /// order.
  private static let elements: [[[Int]]] = [
    [], [[0]], [[0, 1]], [[2], [0, 1]], [[2], [0, 1], [3]], [[2], [0, 1], [3, 4]],
    [[2], [0, 1], [4, 5], [3]], [[2], [0, 1], [4, 5], [6], [3]],
    [[2], [6, 7], [0, 1], [4, 5], [3]],
  ]

  /// The packet of a one-frame block. Samples off the grid of `bits` are rounded.
  static func lonePacket(of block: borrowing AudioBuffer, bits: Int) -> [UInt8] {
    let scale = Double(1 << (bits - 1))
    let mask = UInt32(1) << UInt32(bits) - 1
    var writer = PacketWriter(byteCount: 16 * block.channelCount + 64)
    for channels in elements[block.channelCount] {
      // Element type and number, twelve unused bits; then: frame count present, no separate low
      // bits, plain samples.
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

/// The stereo pairing of an Apple Lossless packet: left and right, or their difference L − R and R
/// + (L − R) / 2ˢ, which is the left, the mid or the right channel.
struct ALACPairing: Hashable {
  /// Whether a difference is used.
  let isUsed: Bool
  /// The exponent s.
  let shift: Int32

  /// Left and right.
  static let none = ALACPairing(isUsed: false, shift: 0)

  /// Puts the channels together.
  func apply(
    _ left: [Int32], _ right: [Int32], _ count: Int, plainBits: Int32,
    _ first: inout [Int32], _ second: inout [Int32]
  ) {
    let (left, right) = (left.span, right.span)
    var first = first.mutableSpan
    var second = second.mutableSpan
    for index in 0..<count {
      let (l, r) = unsafe (
        left[unchecked: index] &>> plainBits, right[unchecked: index] &>> plainBits
      )
      unsafe first[unchecked: index] = isUsed ? r &+ ((l &- r) &>> shift) : l
      unsafe second[unchecked: index] = isUsed ? l &- r : r
    }
  }
}

extension ALACPairing {
  /// The pairing with the smallest second differences, which approximate the residual. The lowest
  /// `plainBits` of each sample are ignored.
  init(for left: [Int32], _ right: [Int32], _ count: Int, plainBits: Int32) {
    let (left, right) = (left.span, right.span)
    var sums = SIMD4<Int32>.zero
    var (before, earlier) = (SIMD4<Int32>.zero, SIMD4<Int32>.zero)
    for index in 0..<count {
      let (l, r) = unsafe (
        left[unchecked: index] &>> plainBits, right[unchecked: index] &>> plainBits
      )
      let now = SIMD4(l, r, (l &+ r) &>> 1, l &- r)
      let curve = now &- before &- before &+ earlier
      // At most 2¹⁸ for each of 4096 samples.
      let sign = curve &>> 31
      sums &+= (curve ^ sign) &- sign
      (earlier, before) = (before, now)
    }
    let (l, r, mid, side) = (sums[0], sums[1], sums[2], sums[3])
    let least = min(min(l &+ r, l &+ side), min(r &+ side, mid &+ side))
    switch least {
    case l &+ r: self = .none
    case mid &+ side: self.init(isUsed: true, shift: 1)
    case l &+ side: self.init(isUsed: true, shift: 0)
    default: self.init(isUsed: true, shift: 31)
    }
  }
}

/// The adaptive Golomb codes of Apple Lossless with the parameters in every file's header: a
/// history that begins at 10 and adapts by 40/512, and codes of at most 14 bits.
enum ALACEntropy {
  private static let start = 10
  private static let speed = 40
  private static let longestCode = 14

  /// Writes a channel's residual, escaped to `width` bits if a code would be too long.
  static func write(
    _ rests: [Int32], _ count: Int, width: Int, to writer: inout PacketWriter
  ) {
    let rests = rests.span
    var history = start
    // No zero follows a run of zeros, so 1 is subtracted.
    var known = 0
    var index = 0
    while index < count {
      let code = min(log2((history &>> 9) &+ 3), longestCode)
      let rest = unsafe rests[unchecked: index]
      let value = Int((UInt32(bitPattern: rest &<< 1) ^ UInt32(bitPattern: rest &>> 31)))
      write(value &- known, code, width: width, to: &writer)
      known = 0
      index &+= 1
      history = value > 0xffff ? 0xffff : history &+ value &* speed &- (history &* speed) &>> 9
      guard history < 128, index < count else { continue }
      var run = 0
      while index < count, unsafe rests[unchecked: index] == 0 {
        run &+= 1
        index &+= 1
      }
      let runCode = 7 &- log2(history) &+ (history &+ 16) &>> 6
      write(run, min(runCode, longestCode), width: 16, to: &writer)
      known = 1
      history = 0
    }
  }

  /// ⌊log₂⌋; 0 for 0.
  @inline(__always)
  private static func log2(_ value: Int) -> Int {
    63 &- (value | 1).leadingZeroBitCount
  }

  /// Writes a number: the quotient by 2ᵏ − 1 in unary, then the remainder, one bit shorter for 0.
  @inline(__always)
  private static func write(
    _ value: Int, _ code: Int, width: Int, to writer: inout PacketWriter
  ) {
    let divisor = (1 &<< code) &- 1
    var quotient = value &>> code
    guard quotient <= 8 else { return escape(value, width, to: &writer) }
    var remainder = value &- quotient &* divisor
    while remainder >= divisor {
      remainder &-= divisor
      quotient &+= 1
    }
    guard quotient <= 8 else { return escape(value, width, to: &writer) }
    let ones = UInt32(truncatingIfNeeded: ((1 &<< quotient) &- 1) &<< 1)
    if code == 1 {
      writer.append(ones, count: quotient &+ 1)
    } else if remainder == 0 {
      writer.append(ones &<< UInt32(code &- 1), count: quotient &+ code)
    } else {
      let low = UInt32(truncatingIfNeeded: remainder &+ 1)
      writer.append(ones &<< UInt32(code) | low, count: quotient &+ 1 &+ code)
    }
  }

  private static func escape(_ value: Int, _ width: Int, to writer: inout PacketWriter) {
    writer.append(0x1ff, count: 9)
    writer.append(UInt32(truncatingIfNeeded: value), count: width)
  }
}

/// A reusable big-endian bit writer for packets.
struct PacketWriter {
  private var bytes: [UInt8]
  private var end = 0
  // The lowest `pendingCount` bits, fewer than 32 between calls, are not stored yet.
  private var pending: UInt64 = 0
  private var pendingCount = 0

  init(byteCount: Int) { bytes = [UInt8](repeating: 0, count: byteCount) }

  /// Bits since the last `clear`.
  var bitCount: Int { end * 8 + pendingCount }

  mutating func clear() { (end, pending, pendingCount) = (0, 0, 0) }

  /// Writes `value`, less than 2 to the power of `count`, in `count` bits, at most 32.
  @inline(__always)
  mutating func append(_ value: UInt32, count: Int) {
    pending = pending &<< UInt64(truncatingIfNeeded: count) | UInt64(value)
    pendingCount &+= count
    guard pendingCount >= 32 else { return }
    pendingCount &-= 32
    let word = UInt32(truncatingIfNeeded: pending &>> UInt64(truncatingIfNeeded: pendingCount))
    let place = end
    unsafe bytes.withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: word.bigEndian, toByteOffset: place, as: UInt32.self)
    }
    end &+= 4
  }

  /// All bits, zero-padded to a byte.
  var wholeBytes: [UInt8] {
    var result = Array(bytes[..<end])
    let left = pending << UInt64(64 - pendingCount)
    for index in 0..<(pendingCount + 7) / 8 {
      result.append(UInt8(truncatingIfNeeded: left >> UInt64(56 - 8 * index)))
    }
    return result
  }
}
