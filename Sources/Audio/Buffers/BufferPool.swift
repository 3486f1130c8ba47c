import Synchronization

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

  init(sampleCount: Int) {
    self.sampleCount = sampleCount
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: sampleCount * MemoryLayout<Float>.stride, alignment: 64)
    unsafe start = raw.bindMemory(to: Float.self, capacity: sampleCount)
    unsafe start.initialize(repeating: 0, count: sampleCount)
  }

  deinit { unsafe start.deallocate() }

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
