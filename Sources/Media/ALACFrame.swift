internal import AudioModel

/// Makes packets of Apple Lossless sound in one or two channels of 16 or 24 bits, after Apple's
/// published codec (github.com/macosforge/alac: ALACEncoder.cpp, dp_enc.c, ag_enc.c).
///
/// Of 24 bits the lowest eight are mostly noise, and are written as they are. What lies above them,
/// channel by channel or as mid and side, is predicted by a filter that both ends adapt from sample
/// to sample, and the rest is written in adaptive Golomb codes. Packets do not depend on each other.
struct ALACFrame: ~Copyable {
  /// Frames in every packet but a stream's last.
  static let length = 4096
  /// Raised whenever other bytes come out.
  static let revision = 1

  private let channelCount: Int
  private let bits: Int
  private var left = [Int32](repeating: 0, count: length)
  private var right = [Int32](repeating: 0, count: length)
  // What is predicted: the channels, or their mid and side.
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
    // Escaped residuals are the longest way to write a sample.
    writer = PacketWriter(byteCount: Self.length * channelCount * 5 + 64)
  }

  /// Bits of a sample that are not predicted.
  private var plainBits: Int { bits - 16 }

  /// Bits of what is predicted: a difference has twice the range.
  private var width: Int { 16 + channelCount - 1 }

  /// The packet of a block of at most ``length`` frames. Samples that are not on the grid of the
  /// bits are rounded. O(samples).
  mutating func packet(of block: borrowing AudioBuffer) -> [UInt8] {
    let count = block.frameCount.count
    precondition((1...Self.length).contains(count) && block.channelCount == channelCount)
    read(block)
    writer.clear()
    writeHead(count, isPlain: false)
    let pairing = separate(count)
    writer.append(UInt32(pairing.shift), count: 8)
    writer.append(pairing.isUsed ? 1 : 0, count: 8)
    let filter = ALACFilter(for: first, count)
    let secondFilter = channelCount == 2 ? ALACFilter(for: second, count) : filter
    filter.write(to: &writer)
    if channelCount == 2 { secondFilter.write(to: &writer) }
    writePlainBits(count)
    let isExact: Bool
    if channelCount == 2 {
      isExact = ALACFilter.predict(
        first, second, count, width: width, filter, secondFilter,
        &firstRest, &secondRest)
    } else {
      isExact = filter.predict(first, count, width: width, &firstRest)
    }
    ALACEntropy.write(firstRest, count, width: width, to: &writer)
    if channelCount == 2 { ALACEntropy.write(secondRest, count, width: width, to: &writer) }
    // Noise at full scale does not become smaller. Nor is it left to a decoder's arithmetic what
    // becomes of a sum that 32 bits do not hold.
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

  /// Fills what is predicted.
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

  /// What kind of element the packet holds, and how many frames where they are fewer than usual.
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
