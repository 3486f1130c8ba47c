/// A block of planar sound with one owner: every channel is a run of 32-bit floats of its own,
/// aligned to 64 bytes, as vector code and the codecs want it.
@safe public struct AudioBuffer: ~Copyable, @unchecked Sendable {
  // The memory is owned by this value alone and leaves it only as a borrow, so a buffer may move
  // between threads.
  private let storage: UnsafeMutablePointer<Float>
  private let stride: Int
  private let memory: SampleMemory
  private let pool: BufferPool?

  /// The number of channels.
  public let channelCount: Int
  /// How many frames the buffer can hold.
  public let capacity: Frames
  /// How many frames it holds; the frames beyond are undefined. At most `capacity`.
  public var frameCount: Frames {
    didSet { precondition(frameCount.count >= 0 && frameCount <= capacity) }
  }

  /// Allocates room for `capacity` frames, all zero; the buffer holds none of them yet.
  public init(channelCount: Int, capacity: Frames) {
    let count = SampleMemory.sampleCount(channelCount: channelCount, capacity: capacity)
    self.init(
      channelCount: channelCount, capacity: capacity, memory: SampleMemory(sampleCount: count),
      pool: nil)
  }

  /// Uses memory of the right size, which goes back to the pool with the buffer.
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
  public func channel(_ index: Int) -> Span<Float> {
    precondition(index >= 0 && index < channelCount)
    let span = unsafe Span(
      _unsafeStart: UnsafePointer(storage + index * stride), count: frameCount.count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The samples of one channel, to be written.
  @_lifetime(&self)
  public mutating func mutableChannel(_ index: Int) -> MutableSpan<Float> {
    precondition(index >= 0 && index < channelCount)
    let span = unsafe MutableSpan(_unsafeStart: storage + index * stride, count: frameCount.count)
    return unsafe _overrideLifetime(span, mutating: &self)
  }

  /// Where a channel starts, for C libraries and kernels: `capacity` floats, valid while the
  /// buffer lives. Writing through it needs exclusive access to the buffer.
  @unsafe public func baseAddress(ofChannel index: Int) -> UnsafeMutablePointer<Float> {
    precondition(index >= 0 && index < channelCount)
    return unsafe storage + index * stride
  }

  /// Replaces the content with `count` frames of `source`, starting at `start`.
  public mutating func copy(from source: borrowing AudioBuffer, start: Frames, count: Frames) {
    precondition(source.channelCount == channelCount)
    precondition(start.count >= 0 && start + count <= source.frameCount)
    frameCount = count
    for index in 0..<channelCount {
      unsafe baseAddress(ofChannel: index).update(
        from: source.baseAddress(ofChannel: index) + start.count, count: count.count)
    }
  }

  /// Adds `count` frames of `source` behind those it holds; they must fit.
  public mutating func append(
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
