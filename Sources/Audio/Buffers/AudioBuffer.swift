import Synchronization

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

  /// Uses memory of another owner, which must outlive the buffer: `byteCount(channelCount:capacity:)`
  /// bytes from `start` on, which is aligned to 64 bytes; `frameCount` is 0.
  @unsafe package init(
    channelCount: Int, capacity: Frames, over start: UnsafeMutableRawPointer
  ) {
    let count = SampleMemory.sampleCount(channelCount: channelCount, capacity: capacity)
    self.init(
      channelCount: channelCount, capacity: capacity,
      memory: unsafe SampleMemory(over: start, sampleCount: count), pool: nil)
  }

  /// The memory of a buffer.
  package static func byteCount(channelCount: Int, capacity: Frames) -> Int {
    SampleMemory.sampleCount(channelCount: channelCount, capacity: capacity)
      * MemoryLayout<Float>.stride
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

/// A pool of sample memory. Blocks of one size come and go by the thousand; reuse avoids
/// fragmentation and page faults.
///
/// Buffers may outlive the pool. Thread-safe.
package final class BufferPool: Sendable {
  private let free = Mutex<[Int: [SampleMemory]]>([:])

  package init() {}

  /// A buffer for `capacity` frames with undefined samples; `frameCount` is 0.
  package func makeBuffer(channelCount: Int, capacity: Frames) -> AudioBuffer {
    let count = SampleMemory.sampleCount(channelCount: channelCount, capacity: capacity)
    let memory = free.withLock { $0[count]?.popLast() } ?? SampleMemory(sampleCount: count)
    return AudioBuffer(channelCount: channelCount, capacity: capacity, memory: memory, pool: self)
  }

  /// Returns a buffer's memory to the pool.
  func recycle(_ memory: SampleMemory) {
    free.withLock { $0[memory.sampleCount, default: []].append(memory) }
  }
}

/// Aligned memory for samples.
@safe final class SampleMemory: @unchecked Sendable {
  // Safe: the memory has one holder at a time.
  let start: UnsafeMutablePointer<Float>
  let sampleCount: Int
  private let isOwned: Bool

  init(sampleCount: Int) {
    self.sampleCount = sampleCount
    isOwned = true
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: sampleCount * MemoryLayout<Float>.stride, alignment: 64)
    unsafe start = raw.bindMemory(to: Float.self, capacity: sampleCount)
    unsafe start.initialize(repeating: 0, count: sampleCount)
  }

  /// Memory of another owner, which outlives this value.
  init(over start: UnsafeMutableRawPointer, sampleCount: Int) {
    self.sampleCount = sampleCount
    isOwned = false
    unsafe self.start = start.bindMemory(to: Float.self, capacity: sampleCount)
  }

  deinit { if isOwned { unsafe start.deallocate() } }

  /// Floats in a channel's row: a multiple of 64 bytes, so that each channel is aligned, with
  /// padding because some codecs read a little past the end.
  static func stride(_ capacity: Frames) -> Int { (capacity.count + 15) / 16 * 16 + 16 }

  /// Floats for a whole buffer.
  static func sampleCount(channelCount: Int, capacity: Frames) -> Int {
    stride(capacity) * channelCount
  }
}

/// A kernel's working memory: plain numbers, aligned to 64 bytes, freed with their owner.
@safe struct Scratch<Element: BitwiseCopyable>: ~Copyable {
  /// The first element; valid while this value lives.
  @unsafe let start: UnsafeMutablePointer<Element>
  let count: Int

  init(repeating value: Element, count: Int) {
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: max(count, 1) * MemoryLayout<Element>.stride, alignment: 64)
    unsafe start = raw.bindMemory(to: Element.self, capacity: max(count, 1))
    unsafe start.initialize(repeating: value, count: max(count, 1))
    self.count = count
  }

  deinit { unsafe start.deallocate() }

  subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < count)
      return unsafe start[index]
    }
    nonmutating set {
      precondition(index >= 0 && index < count)
      unsafe start[index] = newValue
    }
  }
}
