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

/// An object whose state can be saved, so that another one made with the same settings continues
/// bit-exactly.
package protocol Resumable: AnyObject {
  /// The state after the last frame.
  var snapshot: ProcessorSnapshot { get }

  /// Restores the state of an object with the same settings. After an error the state is undefined.
  func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError)

  /// Passes everything that the state consists of through a coder: one description for both
  /// directions.
  func code(_ coder: inout StateCoder) throws(SnapshotError)
}

extension Resumable {
  package var snapshot: ProcessorSnapshot {
    StateCoder.snapshot { (coder) throws(SnapshotError) in try code(&coder) }
  }

  package func restore(_ snapshot: ProcessorSnapshot) throws(SnapshotError) {
    try StateCoder.restore(snapshot) { (coder) throws(SnapshotError) in try code(&coder) }
  }
}

/// Writes values to a snapshot, or replaces them by those of a snapshot, in the same order.
package struct StateCoder {
  /// Whether values are replaced.
  let isReading: Bool
  private var written = ProcessorSnapshot()
  private var reader: SnapshotReader

  private init(reading snapshot: ProcessorSnapshot?) {
    isReading = snapshot != nil
    reader = SnapshotReader(snapshot ?? ProcessorSnapshot())
  }

  /// What `body` passes through.
  static func snapshot(
    _ body: (inout StateCoder) throws(SnapshotError) -> Void
  ) -> ProcessorSnapshot {
    var coder = StateCoder(reading: nil)
    // Only values that are read can be wrong.
    try? body(&coder)
    return coder.written
  }

  /// Replaces what `body` passes through; throws if the snapshot is shorter or longer.
  static func restore(
    _ snapshot: ProcessorSnapshot, _ body: (inout StateCoder) throws(SnapshotError) -> Void
  ) throws(SnapshotError) {
    var coder = StateCoder(reading: snapshot)
    try body(&coder)
    try coder.reader.finish()
  }

  /// Passes a plain number or SIMD vector in its memory layout.
  mutating func pass<T: BitwiseCopyable>(_ value: inout T) throws(SnapshotError) {
    if isReading { value = try reader.next(T.self) } else { written.append(value) }
  }

  /// Passes a number; throws if the one that was read lies outside the range.
  mutating func pass<R: RangeExpression>(
    _ value: inout R.Bound, in range: R
  ) throws(SnapshotError) where R.Bound: BitwiseCopyable {
    try pass(&value)
    guard !isReading || range.contains(value) else { throw SnapshotError() }
  }

  /// Passes a flag as a whole word.
  mutating func pass(flag: inout Bool) throws(SnapshotError) {
    var word = flag ? 1 : 0
    try pass(&word, in: 0...1)
    flag = word == 1
  }

  /// Passes values whose number is known.
  mutating func pass<T: BitwiseCopyable>(_ values: inout [T]) throws(SnapshotError) {
    if isReading {
      values = try reader.next(T.self, count: values.count)
    } else {
      written.append(contentsOf: values)
    }
  }

  /// Passes values, preceded by their number.
  mutating func pass<T: BitwiseCopyable>(list values: inout [T]) throws(SnapshotError) {
    var count = values.count
    // A value has at least one byte.
    try pass(&count, in: 0...reader.remainingByteCount)
    if isReading { values = try reader.next(T.self, count: count) } else { try pass(&values) }
  }

  /// Passes `count` samples at the speed of a copy; reads none if there are fewer.
  @unsafe mutating func pass(
    samples: UnsafeMutablePointer<Float>, count: Int
  ) throws(SnapshotError) {
    if isReading {
      unsafe try reader.read(count, into: samples)
    } else {
      unsafe written.append(samples: samples, count: count)
    }
  }

  /// Passes the state of a part, preceded by its length.
  mutating func pass(part: some Resumable) throws(SnapshotError) {
    var bytes = isReading ? [] : part.snapshot.bytes
    try pass(list: &bytes)
    if isReading { try part.restore(ProcessorSnapshot(bytes: bytes)) }
  }
}
