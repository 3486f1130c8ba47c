/// The state of a processor as plain bytes, in the processor's own layout.
public struct ProcessorSnapshot: Hashable, Sendable, Codable {
  /// The state, little-endian.
  public var bytes: [UInt8]

  /// Wraps a state.
  public init(bytes: [UInt8] = []) { self.bytes = bytes }

  /// Appends a plain number or SIMD vector as it lies in memory.
  public mutating func append<T: BitwiseCopyable>(_ value: T) {
    unsafe withUnsafeBytes(of: value) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Appends every element of a run of plain numbers.
  public mutating func append<T: BitwiseCopyable>(contentsOf values: [T]) {
    for value in values { append(value) }
  }

  /// Appends `count` samples; for long runs of them, at the speed of a copy.
  @unsafe public mutating func append(samples start: UnsafePointer<Float>, count: Int) {
    unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: 4 * count))
  }
}

/// Reads a snapshot back in the order in which it was written.
public struct SnapshotReader {
  private let bytes: [UInt8]
  private var offset = 0

  /// Starts at the beginning of `snapshot`.
  public init(_ snapshot: ProcessorSnapshot) { bytes = snapshot.bytes }

  /// How many bytes are still to be read.
  public var remainingByteCount: Int { bytes.count - offset }

  /// The next value; throws when the snapshot is too short to hold it.
  public mutating func next<T: BitwiseCopyable>(_ type: T.Type) throws(SnapshotError) -> T {
    let size = MemoryLayout<T>.size
    guard bytes.count - offset >= size else { throw SnapshotError() }
    defer { offset += size }
    return unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: offset, as: T.self)
    }
  }

  /// The next `count` values.
  public mutating func next<T: BitwiseCopyable>(
    _ type: T.Type, count: Int
  ) throws(SnapshotError) -> [T] {
    var values: [T] = []
    values.reserveCapacity(count)
    for _ in 0..<count { values.append(try next(type)) }
    return values
  }

  /// Reads the next `count` samples into memory; throws, and writes nothing, when there are fewer.
  @unsafe public mutating func read(
    _ count: Int, into samples: UnsafeMutablePointer<Float>
  ) throws(SnapshotError) {
    guard count >= 0, bytes.count - offset >= 4 * count else { throw SnapshotError() }
    guard count > 0 else { return }
    unsafe bytes.withUnsafeBytes {
      guard let start = $0.baseAddress else { return }
      unsafe UnsafeMutableRawPointer(samples).copyMemory(
        from: start + offset, byteCount: 4 * count)
    }
    offset += 4 * count
  }

  /// Throws unless everything was read: a longer snapshot belongs to another processor.
  public func finish() throws(SnapshotError) {
    guard offset == bytes.count else { throw SnapshotError() }
  }
}

/// A snapshot does not belong to the processor that was asked to restore it.
public struct SnapshotError: Error, Sendable {
  /// Says so.
  public init() {}
}
