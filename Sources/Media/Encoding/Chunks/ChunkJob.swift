import Audio
import CLibAV
import CLibAVLoader
import Platform
internal import Synchronization

extension ChunkedEncoding {
  /// A job that encodes one chunk with its own encoder, on any thread.
  struct Job: Sendable {
    let settings: EncoderSettings
    let plan: ChunkPlan
    /// The chunk and its frame range.
    let label: ChunkLabel
    /// The sound, which covers the label's range.
    let sound: ChunkedEncoding.HeldSound
    /// The packet cache; nil if packets are only returned.
    let store: (any ChunkStore)?
    /// Raised to abandon the job.
    let stop: StopSign
    /// The file, for errors.
    let path: String

    /// The chunk's packets, from the one before its boundary on; incomplete if stopped.
    func run() -> Result<PacketRun, SpoolError> {
      do throws(SpoolError) { return .success(try loadOrEncode()) } catch { return .failure(error) }
    }

    private func loadOrEncode() throws(SpoolError) -> PacketRun {
      if let run = store?.load(label) { return run }
      let run = try encode()
      if !stop.isRaised { try store?.save(run, as: label) }
      return run
    }

    private func encode() throws(SpoolError) -> PacketRun {
      if settings.hasOwnEncoder, let bits = settings.bits {
        return try encode(ALACFrame(channelCount: settings.format.channelCount, bits: bits))
      }
      var encoder = try EncoderContext(settings, path: path)
      let mirrored = plan.mirroredPackets(of: label.chunk, frames: label.range.count)
      let wanted = max(plan.firstPacket(of: label.chunk), plan.boundary(of: label.chunk) - 1)
      // A packet of silence separates the mirrored sound from the sound.
      var number = plan.firstPacket(of: label.chunk) - (mirrored > 0 ? mirrored + 1 : 0)
      var run = PacketRun(first: wanted)
      func take(_ packet: borrowing Packet) {
        let bytes = packet.bytes
        // FLAC's encoder ends with an empty packet.
        if bytes.isEmpty { return }
        if number >= wanted { run.packets.append(bytes) }
        number += 1
      }
      let range = label.range
      var block = AudioBuffer(
        channelCount: settings.format.channelCount, capacity: Frames(plan.frameSize))
      if mirrored > 0 { try encodeMirrored(mirrored, &block, &encoder, take) }
      let boostEnd = range.lowerBound + plan.boostedPackets(of: label.chunk) * plan.frameSize
      for start in stride(from: range.lowerBound, to: range.upperBound, by: plan.frameSize) {
        if stop.isRaised { return run }
        encoder.boostsRate = start < boostEnd
        try sound.read(start..<min(start + plan.frameSize, range.upperBound), into: &block)
        if let bits = settings.bits, ALACFrame.isLone(block.frameCount.count, of: settings) {
          run.packets.append(ALACFrame.lonePacket(of: block, bits: bits))
          continue
        }
        try encoder.encode(block, take)
        if settings.isFLAC { try renumberLast(of: &run, holding: block) }
      }
      if label.isLast {
        try encoder.finish(take)
      } else if run.end < plan.boundary(of: label.chunk + 1) + plan.overlap {
        throw SpoolError(
          "encode", path,
          reason: "this libavcodec's \(settings.codec) encoder holds back more than expected",
          cause: .input)
      }
      return run
    }

    /// Replaces the number of the last FLAC frame of `run`, which holds `block`, with its number in the
    /// stream: a chunk's encoder counts from 0.
    private func renumberLast(
      of run: inout PacketRun, holding block: borrowing AudioBuffer
    ) throws(SpoolError) {
      guard let bits = settings.bits, let frame = run.packets.popLast().flatMap(FLACFrame.init)
      else {
        throw SpoolError(
          "encode", path,
          reason: "this libavcodec's FLAC encoder gives frames of another kind than expected",
          cause: .input)
      }
      let number = run.end
      var bytes = frame.numbered(number)
      // The size beyond which libavcodec stores plain samples: those of the block, all headers at
      // their longest, and the CRC; for two channels one more bit a frame for the difference. The
      // encoder would have compared with the longer number's size.
      let channels = block.channelCount
      let frameBits = channels * bits + (channels == 2 ? 1 : 0)
      let limit =
        16 + channels * ((bits + 14) / 8) + (frameBits * block.frameCount.count + 7) / 8 + 2
      if bytes.count > limit {
        bytes = frame.numbered(number, body: frame.plainBody(of: block, bits: bits))
      }
      run.packets.append(bytes)
    }

    /// Encodes the first packets' sound backwards and a packet of silence, so that the encoder has
    /// settled at the start of the stream without carrying earlier sound.
    private func encodeMirrored(
      _ count: Int, _ block: inout AudioBuffer, _ encoder: inout EncoderContext,
      _ take: (borrowing Packet) -> Void
    ) throws(SpoolError) {
      for packet in (0..<count).reversed() {
        encoder.boostsRate = count - 1 - packet < plan.boosted
        try sound.read(packet * plan.frameSize..<(packet + 1) * plan.frameSize, into: &block)
        for channel in 0..<block.channelCount {
          var samples = unsafe UnsafeMutableBufferPointer(
            start: block.baseAddress(ofChannel: channel), count: plan.frameSize)
          unsafe samples.reverse()
        }
        try encoder.encode(block, take)
      }
      encoder.boostsRate = false
      block.silence()
      try encoder.encode(block, take)
    }

    /// Encodes independent packets with our own encoder.
    private func encode(_ frame: consuming ALACFrame) throws(SpoolError) -> PacketRun {
      var run = PacketRun(first: plan.boundary(of: label.chunk))
      let range = label.range
      var block = AudioBuffer(
        channelCount: settings.format.channelCount, capacity: Frames(plan.frameSize))
      for start in stride(from: range.lowerBound, to: range.upperBound, by: plan.frameSize) {
        if stop.isRaised { return run }
        try sound.read(start..<min(start + plan.frameSize, range.upperBound), into: &block)
        run.packets.append(frame.packet(of: block))
      }
      return run
    }
  }
}

/// A FLAC frame with fixed block size, whose header holds its number (RFC 9639, section 9).
struct FLACFrame {
  let bytes: [UInt8]
  private let numberByteCount: Int
  /// Bytes of block size and sample rate after the number.
  private let extraByteCount: Int

  private static let numberStart = 4

  /// Reads a header; nil for any other bytes.
  init?(_ bytes: [UInt8]) {
    // The sync code, and the bit for fixed block size.
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
    // At least the header's and the frame's CRC follow.
    guard bytes.count >= Self.numberStart + numberByteCount + extraByteCount + 3 else {
      return nil
    }
    self.bytes = bytes
  }

  var assignment: UInt8 { bytes[3] >> 4 }

  /// The frame with another number and recomputed CRCs. O(bytes).
  func numbered(_ number: Int) -> [UInt8] {
    numbered(number, body: bytes[bodyStart...].dropLast(2))
  }

  /// The frame with this number and `body`.
  func numbered(_ number: Int, body: some Collection<UInt8>) -> [UInt8] {
    var result = Array(bytes[..<Self.numberStart])
    result.reserveCapacity(body.count + 18)
    result += Self.code(number)
    result += bytes[(Self.numberStart + numberByteCount)..<(bodyStart - 1)]
    result.append(UInt8(truncatingIfNeeded: Self.check(result, AV_CRC_8_ATM)))
    result += body
    // libavutil returns this CRC byte-swapped.
    let check = Self.check(result, AV_CRC_16_ANSI)
    result += [UInt8(truncatingIfNeeded: check), UInt8(truncatingIfNeeded: check >> 8)]
    return result
  }

  // Behind the header and its check.
  private var bodyStart: Int { Self.numberStart + numberByteCount + extraByteCount + 1 }

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
}

extension FLACFrame {
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
}

/// A flag that asks jobs on other threads to stop.
final class StopSign: Sendable {
  private let flag = Atomic(false)

  var isRaised: Bool { flag.load(ordering: .relaxed) }

  /// Asks jobs to stop at their next check.
  func raise() { flag.store(true, ordering: .relaxed) }
}
