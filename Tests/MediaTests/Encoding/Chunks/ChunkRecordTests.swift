@testable import Media
import Platform
import TestSupport
import Testing

@Suite("The record of a chunk")
struct ChunkRecordTests {
  let owner = SHA256.digest(of: "owner")
  let label = ChunkLabel(7, 1000..<2500, isLast: true)
  let run = PacketRun(first: 41, packets: [[1, 2, 3], [], [255], Array(repeating: 9, count: 300)])

  @Test("is read as it was written")
  func roundTrip() throws {
    let bytes = ChunkRecord(run, as: label).bytes(owner: owner)
    let record = try #require(ChunkRecord(bytes, owner: owner))
    #expect(record.label == label)
    #expect(record.run.first == run.first)
    #expect(record.run.packets == run.packets)
  }

  @Test("of no packets is one")
  func empty() throws {
    let empty = PacketRun(first: 0)
    let bytes = ChunkRecord(empty, as: label).bytes(owner: owner)
    #expect(ChunkRecord(bytes, owner: owner)?.run.packets == [])
  }

  @Test("is none with any bit changed, cut anywhere, longer, or of another owner")
  func damage() {
    let bytes = ChunkRecord(run, as: label).bytes(owner: owner)
    #expect(ChunkRecord(bytes, owner: SHA256.digest(of: "other")) == nil)
    #expect(ChunkRecord(bytes + [0], owner: owner) == nil)
    #expect(ChunkRecord([UInt8](repeating: 0, count: bytes.count), owner: owner) == nil)
    for index in bytes.indices {
      #expect(ChunkRecord(Array(bytes[..<index]), owner: owner) == nil)
      var changed = bytes
      changed[index] ^= 1 << (index % 8)
      #expect(ChunkRecord(changed, owner: owner) == nil)
    }
  }

  @Test("is found again in a nameless file")
  func nameless() throws {
    let scratch = try ScratchFolder()
    let chunks = try NamelessChunks(beside: scratch.file("export"))
    let other = ChunkLabel(8, 2000..<3500, isLast: false)
    try chunks.save(run, as: label)
    try chunks.save(PacketRun(first: 9, packets: [[5]]), as: other)
    #expect(chunks.load(label)?.packets == run.packets)
    #expect(chunks.load(other)?.packets == [[5]])
    #expect(chunks.load(ChunkLabel(8, 2000..<3500, isLast: true)) == nil)
  }
}
