import Synchronization

/// Sample memory that is used again: the blocks of a stream come and go by the thousand, all of
/// one size, and taking each from the system anew would scatter its memory or cost page faults.
///
/// Buffers may outlive the pool. Any thread may make and drop them.
public final class BufferPool: Sendable {
  private let free = Mutex<[Int: [SampleMemory]]>([:])

  /// An empty pool.
  public init() {}

  /// Room for `capacity` frames, with whatever the last user left in it; the buffer holds none of
  /// them yet.
  public func makeBuffer(channelCount: Int, capacity: Frames) -> AudioBuffer {
    let count = SampleMemory.sampleCount(channelCount: channelCount, capacity: capacity)
    let memory = free.withLock { $0[count]?.popLast() } ?? SampleMemory(sampleCount: count)
    return AudioBuffer(channelCount: channelCount, capacity: capacity, memory: memory, pool: self)
  }

  /// Takes back what a buffer used.
  func recycle(_ memory: SampleMemory) {
    free.withLock { $0[memory.sampleCount, default: []].append(memory) }
  }
}

/// A piece of aligned memory for samples.
@safe final class SampleMemory: @unchecked Sendable {
  // Whoever holds the piece is the only one to use it, so it may go from thread to thread.
  let start: UnsafeMutablePointer<Float>
  let sampleCount: Int

  /// Takes memory from the system, all zero, aligned to 64 bytes.
  init(sampleCount: Int) {
    self.sampleCount = sampleCount
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: sampleCount * MemoryLayout<Float>.stride, alignment: 64)
    unsafe start = raw.bindMemory(to: Float.self, capacity: sampleCount)
    unsafe start.initialize(repeating: 0, count: sampleCount)
  }

  deinit { unsafe start.deallocate() }

  /// Floats in a channel's row: a multiple of 64 bytes, so that every channel starts aligned, with
  /// room to spare, since some codecs read a little past the end.
  static func stride(_ capacity: Frames) -> Int { (capacity.count + 15) / 16 * 16 + 16 }

  /// Floats for a whole buffer.
  static func sampleCount(channelCount: Int, capacity: Frames) -> Int {
    stride(capacity) * channelCount
  }
}
