import Audio
import Testing

@Suite("A block of planar sound")
struct AudioBufferTests {
  /// A buffer whose sample is a thousand times the channel's number and the frame's.
  private func numbered(channels: Int, frames: Int, capacity: Int) -> AudioBuffer {
    var buffer = AudioBuffer(channelCount: channels, capacity: Frames(capacity))
    buffer.frameCount = Frames(frames)
    for channel in 0..<channels {
      var samples = buffer.mutableChannel(channel)
      for frame in 0..<frames { samples[frame] = Float(1000 * channel + frame) }
    }
    return buffer
  }

  private func samples(of buffer: borrowing AudioBuffer, channel: Int) -> [Float] {
    let span = buffer.channel(channel)
    return span.indices.map { span[$0] }
  }

  @Test("begins empty, with every channel aligned for vectors", arguments: [1, 2, 7, 64])
  func alignment(channels: Int) {
    for capacity in [0, 1, 15, 16, 17, 4096] {
      let buffer = AudioBuffer(channelCount: channels, capacity: Frames(capacity))
      #expect(buffer.frameCount == .zero)
      for channel in 0..<channels {
        let address = unsafe UInt(bitPattern: buffer.baseAddress(ofChannel: channel))
        #expect(address % 64 == 0)
      }
    }
  }

  @Test("keeps its channels apart, up to the last frame")
  func channels() {
    let buffer = numbered(channels: 3, frames: 17, capacity: 17)
    for channel in 0..<3 {
      #expect(samples(of: buffer, channel: channel) == (0..<17).map { Float(1000 * channel + $0) })
    }
  }

  @Test("takes any stretch of another, in its own place or behind what it holds")
  func copies() {
    let source = numbered(channels: 2, frames: 100, capacity: 128)
    var target = AudioBuffer(channelCount: 2, capacity: Frames(50))
    target.copy(from: source, start: Frames(10), count: Frames(20))
    target.append(contentsOf: source, start: Frames(90), count: Frames(10))
    target.append(contentsOf: source, start: .zero, count: .zero)
    let expected = (10..<30).map { 1000 + Float($0) } + (90..<100).map { 1000 + Float($0) }
    #expect(target.frameCount == Frames(30))
    #expect(samples(of: target, channel: 1) == expected)
  }

  @Test("memory of a pool is used again, and by one buffer at a time")
  func pool() {
    let pool = BufferPool()
    func address(_ buffer: borrowing AudioBuffer) -> UInt {
      unsafe UInt(bitPattern: buffer.baseAddress(ofChannel: 0))
    }
    var first: UInt = 0
    do {
      let one = pool.makeBuffer(channelCount: 2, capacity: Frames(64))
      let other = pool.makeBuffer(channelCount: 2, capacity: Frames(64))
      first = address(one)
      #expect(first != address(other))
    }
    let again = pool.makeBuffer(channelCount: 2, capacity: Frames(64))
    let more = pool.makeBuffer(channelCount: 2, capacity: Frames(64))
    #expect([address(again), address(more)].contains(first))
    #expect(address(again) != address(more))
    #expect(again.frameCount == .zero)
  }
}
