import Audio
@testable import Media
import Testing

@Suite("Plain samples in a FLAC frame")
struct FLACPlainBodyTests {
  /// libavcodec's encoder stores blocks of fewer than five frames as they are.
  @Test(
    "are what libavcodec writes, however it puts the channels together",
    arguments: [Quantizer.Depth.bits16, .bits24], [1, 2, 3])
  func short(_ depth: Quantizer.Depth, _ channels: Int) throws {
    var seen: Set<UInt8> = []
    for round in 0..<400 {
      let block = Self.block(round, depth.rawValue, channels)
      let frame = try Self.encode(block.buffer, depth)
      let header = try #require(FLACFrame(frame))
      seen.insert(header.assignment)
      let body = header.plainBody(of: block.buffer, bits: depth.rawValue)
      #expect(header.numbered(0, body: body) == frame, "round \(round)")
    }
    // Two channels as they are, or one of three ways with their difference.
    #expect(seen == (channels == 2 ? [1, 8, 9, 10] : [UInt8(channels - 1)]))
  }

  /// One to four frames: the channels alike or not, with empty low bits or without, some of them
  /// constant.
  private static func block(_ round: Int, _ bits: Int, _ channels: Int) -> SharedBuffer {
    var seed = UInt32(round &* 7919 &+ 17)
    func random(_ range: ClosedRange<Int>) -> Int {
      for _ in 0..<3 { seed = seed &* 1_664_525 &+ 1_013_904_223 }
      return range.lowerBound + Int(seed >> 8) % range.count
    }
    let frames = random(1...4)
    let most = 1 << (bits - 1)
    let empty = random(0...3) == 0 ? random(1...bits - 2) : 0
    let likeness = random(0...3)
    var buffer = AudioBuffer(channelCount: channels, capacity: Frames(frames))
    buffer.frameCount = Frames(frames)
    for channel in 0..<channels {
      let isConstant = random(0...7) == 0
      for frame in 0..<frames {
        var value = random(-most...most - 1)
        if likeness > 0 && channel > 0 {
          let other = Int(buffer.channel(0)[frame] * Float(most))
          let difference = random(-20...20)
          value = likeness == 3 ? -other + difference : other + difference
        }
        if isConstant { value = 1234 }
        value = (max(-most, min(value, most - 1)) >> empty) << empty
        var target = buffer.mutableChannel(channel)
        target[frame] = Float(value) / Float(most)
      }
    }
    return SharedBuffer(buffer)
  }

  private static func encode(
    _ block: borrowing AudioBuffer, _ depth: Quantizer.Depth
  ) throws -> [UInt8] {
    let format = AudioFormat(sampleRate: Hertz(48000), channelCount: block.channelCount)
    var encoder = try EncoderContext(
      EncoderSettings(.flac(depth, level: 5), for: format), path: "test")
    var frames: [[UInt8]] = []
    try encoder.encode(block) { frames.append($0.bytes) }
    return try #require(frames.first)
  }
}
