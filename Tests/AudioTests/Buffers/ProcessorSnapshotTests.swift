import Audio
import Testing

@Suite("A processor's state as bytes")
struct ProcessorSnapshotTests {
  private var snapshot: ProcessorSnapshot {
    var snapshot = ProcessorSnapshot()
    snapshot.append(Int64(-7))
    snapshot.append(SIMD4<Float>(1, -2, .infinity, 0))
    snapshot.append(contentsOf: [0.1, -0.2])
    return snapshot
  }

  @Test("is read back in the order in which it was written")
  func roundTrip() throws {
    var reader = SnapshotReader(snapshot)
    #expect(try reader.next(Int64.self) == -7)
    #expect(try reader.next(SIMD4<Float>.self) == SIMD4(1, -2, .infinity, 0))
    #expect(reader.remainingByteCount == 16)
    #expect(try reader.next(Double.self, count: 2) == [0.1, -0.2])
    try reader.finish()
  }

  @Test("of another length is refused wherever it is cut")
  func lengths() {
    let bytes = snapshot.bytes
    func read(_ bytes: [UInt8]) throws(SnapshotError) {
      var reader = SnapshotReader(ProcessorSnapshot(bytes: bytes))
      _ = try reader.next(Int64.self)
      _ = try reader.next(SIMD4<Float>.self)
      _ = try reader.next(Double.self, count: 2)
      try reader.finish()
    }
    for count in bytes.indices {
      #expect(throws: SnapshotError.self) { try read(Array(bytes[..<count])) }
    }
    #expect(throws: SnapshotError.self) { try read(bytes + [0]) }
    #expect(throws: Never.self) { try read(bytes) }
  }
}
