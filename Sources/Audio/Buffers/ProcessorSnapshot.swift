/// The state of a processor as bytes, in the processor's own layout.
package struct ProcessorSnapshot: Hashable, Sendable, Codable {
  /// The state, little-endian.
  package var bytes: [UInt8]

  package init(bytes: [UInt8] = []) { self.bytes = bytes }

  /// Appends a plain number or SIMD vector in its memory layout.
  package mutating func append<T: BitwiseCopyable>(_ value: T) {
    unsafe withUnsafeBytes(of: value) { unsafe bytes.append(contentsOf: $0) }
  }

  package mutating func append<T: BitwiseCopyable>(contentsOf values: [T]) {
    for value in values { append(value) }
  }

  /// Appends `count` samples at the speed of a copy.
  @unsafe package mutating func append(samples start: UnsafePointer<Float>, count: Int) {
    unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(start: start, count: 4 * count))
  }
}

/// Reads a snapshot in the order of writing.
package struct SnapshotReader {
  private let bytes: [UInt8]
  private var offset = 0

  package init(_ snapshot: ProcessorSnapshot) { bytes = snapshot.bytes }

  /// Bytes left to read.
  package var remainingByteCount: Int { bytes.count - offset }

  /// The next value; throws if the snapshot is too short.
  package mutating func next<T: BitwiseCopyable>(_ type: T.Type) throws(SnapshotError) -> T {
    let size = MemoryLayout<T>.size
    guard bytes.count - offset >= size else { throw SnapshotError() }
    defer { offset += size }
    return unsafe bytes.withUnsafeBytes {
      unsafe $0.loadUnaligned(fromByteOffset: offset, as: T.self)
    }
  }

  package mutating func next<T: BitwiseCopyable>(
    _ type: T.Type, count: Int
  ) throws(SnapshotError) -> [T] {
    var values: [T] = []
    values.reserveCapacity(count)
    for _ in 0..<count { values.append(try next(type)) }
    return values
  }

  /// Reads the next `count` samples into memory; throws, and writes nothing, if there are fewer.
  @unsafe package mutating func read(
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

  /// Throws if bytes are left: a longer snapshot belongs to another processor.
  package func finish() throws(SnapshotError) {
    guard offset == bytes.count else { throw SnapshotError() }
  }
}

/// The snapshot does not belong to the processor that restores it.
package struct SnapshotError: Error, Sendable {
  package init() {}
}

/// Nested snapshots.
extension ProcessorSnapshot {
  /// Appends a nested state, preceded by its length.
  mutating func append(_ part: ProcessorSnapshot) {
    append(part.bytes.count)
    bytes += part.bytes
  }
}

extension SnapshotReader {
  /// A count of items of at least one byte each.
  mutating func nextCount() throws(SnapshotError) -> Int {
    let count = try next(Int.self)
    guard (0...remainingByteCount).contains(count) else { throw SnapshotError() }
    return count
  }

  /// A nested state.
  mutating func nextPart() throws(SnapshotError) -> ProcessorSnapshot {
    ProcessorSnapshot(bytes: try next(UInt8.self, count: try nextCount()))
  }
}
