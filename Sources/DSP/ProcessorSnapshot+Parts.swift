import AudioModel

/// Snapshots of something that is made of parts.
extension ProcessorSnapshot {
  /// Appends the state of a part, behind its length.
  mutating func append(_ part: ProcessorSnapshot) {
    append(part.bytes.count)
    bytes += part.bytes
  }
}

extension SnapshotReader {
  /// A count of things that follow, of a byte or more each.
  mutating func nextCount() throws(SnapshotError) -> Int {
    let count = try next(Int.self)
    guard (0...remainingByteCount).contains(count) else { throw SnapshotError() }
    return count
  }

  /// The state of a part.
  mutating func nextPart() throws(SnapshotError) -> ProcessorSnapshot {
    ProcessorSnapshot(bytes: try next(UInt8.self, count: try nextCount()))
  }
}
