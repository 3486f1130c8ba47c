public import AudioModel

/// What an encoder can be given: nothing that cannot be sound, and nothing beyond a limit.
public struct SampleBounds: Sendable {
  private let limit: Float

  /// Bounds at ±`limit`; full scale is 1.
  public init(limit: Float) { self.limit = limit }

  /// The block itself where it keeps within the bounds. Otherwise a copy in which NaN, ±∞ and what
  /// reaches 2⁶⁴ are 0, and all else is clipped. O(samples); a copy is allocated only where there is
  /// need for one.
  public func bounded(_ block: SharedBuffer) -> SharedBuffer {
    guard !holds(block.buffer) else { return block }
    var copy = AudioBuffer(
      channelCount: block.buffer.channelCount, capacity: block.buffer.frameCount)
    FiniteSamples.copy(block.buffer, into: &copy)
    for channel in 0..<copy.channelCount {
      let samples = unsafe copy.baseAddress(ofChannel: channel)
      for index in 0..<copy.frameCount.count {
        unsafe samples[index] = min(max(samples[index], -limit), limit)
      }
    }
    return SharedBuffer(copy)
  }

  private func holds(_ block: borrowing AudioBuffer) -> Bool {
    for channel in 0..<block.channelCount {
      let samples = unsafe block.baseAddress(ofChannel: channel)
      var isWithin = true
      // Without a way out, so that it runs over vectors. A NaN is within nothing.
      for index in 0..<block.frameCount.count {
        let holds = unsafe samples[index].magnitude <= limit
        isWithin = isWithin && holds
      }
      guard isWithin else { return false }
    }
    return true
  }
}
