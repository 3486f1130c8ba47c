/// A block of planar sound with one owner. Each channel is a contiguous row of 32-bit floats,
/// aligned to 64 bytes.
@safe package struct AudioBuffer: ~Copyable, @unchecked Sendable {
  // Safe: only this value owns the memory, and it lends it out as borrows only.
  private let storage: UnsafeMutablePointer<Float>
  private let stride: Int
  private let memory: SampleMemory
  private let pool: BufferPool?

  package let channelCount: Int
  /// The capacity in frames.
  package let capacity: Frames
  /// The number of valid frames, at most `capacity`; the frames behind them are undefined.
  package var frameCount: Frames {
    didSet { precondition(frameCount.count >= 0 && frameCount <= capacity) }
  }

  /// Allocates zeroed room for `capacity` frames; `frameCount` is 0.
  package init(channelCount: Int, capacity: Frames) {
    let count = SampleMemory.sampleCount(channelCount: channelCount, capacity: capacity)
    self.init(
      channelCount: channelCount, capacity: capacity, memory: SampleMemory(sampleCount: count),
      pool: nil)
  }

  /// Uses pooled memory of the right size, which returns to the pool with the buffer.
  init(channelCount: Int, capacity: Frames, memory: SampleMemory, pool: BufferPool?) {
    precondition(channelCount > 0 && capacity.count >= 0)
    self.channelCount = channelCount
    self.capacity = capacity
    self.memory = memory
    self.pool = pool
    unsafe storage = memory.start
    stride = SampleMemory.stride(capacity)
    frameCount = .zero
  }

  deinit { pool?.recycle(memory) }

  /// The samples of one channel.
  @_lifetime(borrow self)
  package func channel(_ index: Int) -> Span<Float> {
    precondition(index >= 0 && index < channelCount)
    let span = unsafe Span(
      _unsafeStart: UnsafePointer(storage + index * stride), count: frameCount.count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The samples of one channel, for writing.
  @_lifetime(&self)
  package mutating func mutableChannel(_ index: Int) -> MutableSpan<Float> {
    precondition(index >= 0 && index < channelCount)
    let span = unsafe MutableSpan(_unsafeStart: storage + index * stride, count: frameCount.count)
    return unsafe _overrideLifetime(span, mutating: &self)
  }

  /// The start of a channel, for C libraries and kernels: `capacity` floats, valid while the buffer
  /// lives. Writing through it needs exclusive access to the buffer.
  @unsafe package func baseAddress(ofChannel index: Int) -> UnsafeMutablePointer<Float> {
    precondition(index >= 0 && index < channelCount)
    return unsafe storage + index * stride
  }

  /// Replaces the content with `count` frames of `source`, starting at `start`.
  package mutating func copy(from source: borrowing AudioBuffer, start: Frames, count: Frames) {
    precondition(source.channelCount == channelCount)
    precondition(start.count >= 0 && start + count <= source.frameCount)
    frameCount = count
    for index in 0..<channelCount {
      unsafe baseAddress(ofChannel: index).update(
        from: source.baseAddress(ofChannel: index) + start.count, count: count.count)
    }
  }

  /// Appends `count` frames of `source`; they must fit.
  package mutating func append(
    contentsOf source: borrowing AudioBuffer, start: Frames, count: Frames
  ) {
    precondition(source.channelCount == channelCount)
    precondition(start.count >= 0 && start + count <= source.frameCount)
    let end = frameCount
    frameCount = end + count
    for index in 0..<channelCount {
      unsafe (baseAddress(ofChannel: index) + end.count).update(
        from: source.baseAddress(ofChannel: index) + start.count, count: count.count)
    }
  }
}

/// An immutable block of sound that several threads read.
package final class SharedBuffer: Sendable {
  /// The sound; it never changes.
  package let buffer: AudioBuffer

  package init(_ buffer: consuming AudioBuffer) { self.buffer = buffer }
}
