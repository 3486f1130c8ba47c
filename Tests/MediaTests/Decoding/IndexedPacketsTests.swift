import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("Packets that lie in the file, and their index")
struct IndexedPacketsTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 2)

  init() throws { scratch = try ScratchFolder() }

  /// What can happen to the packets of chunk 1, or to what the index says of them.
  enum Harm: String, CaseIterable, Sendable {
    case flippedPacket, zeroedPackets, cutFile, flippedLength, flippedChecksum, cutIndex
  }

  @Test(
    "that are not as they were written are made again, and those before them are not",
    arguments: [Interruption.alac, .flac], Harm.allCases)
  func harmed(_ interruption: Interruption, _ harm: Harm) throws {
    let sound = interruption.sound
    let plan = try #require(interruption.plan)
    let state = try interruption.abandon(
      sound, in: scratch.path, pool: pool, after: plan.input(of: 3).lowerBound)
    var file = try bytes(of: scratch.file("export"))
    var index = try bytes(of: scratch.file("work.index"))
    // The magic and the owner; a record's count, lengths and two checksums.
    let record = 40 + 20 + 4 * plan.packetsPerChunk
    switch harm {
    case .flippedPacket: file[try start(ofChunk: 1, plan) + 7] ^= 16
    case .zeroedPackets:
      let start = try start(ofChunk: 1, plan)
      file.replaceSubrange(start..<start + 4096, with: Data(count: 4096))
    case .cutFile: file = file.prefix(try start(ofChunk: 1, plan) + 100)
    case .flippedLength: index[record + 4] ^= 1
    case .flippedChecksum: index[record + 4 + 4 * plan.packetsPerChunk] ^= 1
    case .cutIndex: index.removeLast(index.count - record - 10)
    }
    try file.write(to: URL(fileURLWithPath: scratch.file("export")))
    try index.write(to: URL(fileURLWithPath: scratch.file("work.index")))
    let encoder = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: state)
    #expect(encoder.progress().needsFrom.count == plan.input(of: 1).lowerBound)
    try encoder.takeRest(of: sound, blockSize: 16384)
    try encoder.finish()
    #expect(
      try bytes(of: scratch.file("export"))
        == interruption.wholeFile(sound, in: scratch.path, pool: pool))
  }

  /// Where a chunk's packets begin: behind those before it, whose lengths the index says, and which
  /// end where the file's progress does.
  private func start(ofChunk chunk: Int, _ plan: ChunkPlan) throws -> Int {
    let index = Array(try bytes(of: scratch.file("work.index")))
    let size = 20 + 4 * plan.packetsPerChunk
    let lengths = (0..<(index.count - 40) / size).map { record in
      (0..<plan.packetsPerChunk).reduce(0) { sum, packet in
        let start = 40 + record * size + 4 + 4 * packet
        return sum + (0..<4).reduce(0) { $0 | Int(index[start + $1]) << (8 * $1) }
      }
    }
    let end = try bytes(of: scratch.file("export")).count
    return end - lengths[chunk...].reduce(0, +)
  }

  @Test("count for nothing where the index is gone, or is another encoding's")
  func noIndex() throws {
    let sound = Interruption.alac.sound
    let state = try Interruption.alac.abandon(
      sound, in: scratch.path, pool: pool, after: Interruption.alac.frames / 2)
    let other = try ScratchFolder()
    _ = try Interruption.alac.abandon(
      sound, in: other.path, pool: pool, after: Interruption.alac.frames / 2)
    let file = try bytes(of: scratch.file("export"))
    for index in [nil, Data(), try bytes(of: other.file("work.index"))] {
      try file.write(to: URL(fileURLWithPath: scratch.file("export")))
      try? FileManager.default.removeItem(atPath: scratch.file("work.index"))
      try index?.write(to: URL(fileURLWithPath: scratch.file("work.index")))
      let encoder = try Interruption.alac.encoder(
        sound, in: scratch.path, pool: pool, resuming: state)
      #expect(encoder.progress().needsFrom == .zero)
    }
  }

  @Test("say why their index cannot be written")
  func unwritable() throws {
    let work = EncodingWork(folder: scratch.file("no/such/folder"), name: "work")
    let error = #expect(throws: SpoolError.self) {
      try Interruption.alac.encoder(
        Interruption.alac.sound, to: scratch.file("export"), pool: pool, work: work)
    }
    #expect(error?.action == "write" && error?.cause == .environment)
    #expect(error?.path.contains("no/such/folder") == true)
  }
}
