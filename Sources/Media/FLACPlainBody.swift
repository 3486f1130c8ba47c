internal import AudioModel

/// A FLAC frame's content with its samples as they are (RFC 9639, sections 9.2.2 to 9.2.4).
struct FLACPlainBody {
  /// From behind the header to the frame's check, in whole bytes.
  let bytes: [UInt8]

  /// Writes a block of integer samples of `bits`, its channels put together as the header says.
  init(_ block: borrowing AudioBuffer, bits: Int, assignment: UInt8) {
    var writer = BitWriter()
    for channel in 0..<block.channelCount {
      let part = Self.part(channel, assignment)
      // A difference has twice the range.
      let width = part == .side ? bits + 1 : bits
      Self.write(Self.samples(block, channel, part, bits), width: width, to: &writer)
    }
    bytes = writer.wholeBytes
  }

  /// What a channel of a frame holds.
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

  /// Writes a subframe. Low bits that are zero in all samples are counted and left out.
  private static func write(_ samples: [Int32], width: Int, to writer: inout BitWriter) {
    let used = samples.reduce(0, |)
    let wasted = used == 0 ? 0 : used.trailingZeroBitCount
    let isConstant = samples.allSatisfy { $0 == samples.first }
    writer.append(isConstant ? 0 : 1, count: 7)
    writer.append(wasted > 0 ? 1 : 0, count: 1)
    if wasted > 0 { writer.append(1, count: wasted) }
    for sample in isConstant ? samples.prefix(1) : samples[...] {
      writer.append(UInt32(bitPattern: sample >> Int32(wasted)), count: width - wasted)
    }
  }
}
