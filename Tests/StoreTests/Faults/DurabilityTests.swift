import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct DurabilityTests {
  private let scratch: ScratchFolder
  private let probe = FileProbe()
  private let store: DiskStore

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("new/store"), files: probe.files)
  }

  @Test("a sealed artifact and every folder above it outlive a power cut")
  func sealedArtifact() throws {
    let artifact = try store.makeArtifact("bytes")
    let cut = PowerCut(after: probe.operations)
    #expect(cut.mistakes == [])
    #expect(cut.spares(try store.path(of: artifact), under: scratch.file("new")))
  }

  @Test("so does one that was written past the store")
  func writtenAtPath() throws {
    let draft = try store.makeDraft(.file)
    try Data("by another hand".utf8).write(to: URL(fileURLWithPath: draft.path))
    let artifact = try draft.seal()
    let cut = PowerCut(after: probe.operations)
    #expect(cut.mistakes == [])
    #expect(cut.spares(try store.path(of: artifact), under: scratch.file("new")))
  }

  @Test("an artifact that another store put there is vouched for by flushes of one's own")
  func foundArtifact() throws {
    let artifact = try store.makeArtifact("twice")
    let (shard, artifacts) = (
      FilePath.folder(of: try store.path(of: artifact)), store.path + "/artifacts"
    )
    let probe = FileProbe()
    let other = try DiskStore(at: store.path, files: probe.files)
    #expect(try other.makeArtifact("twice") == artifact)
    #expect(probe.operations.contains(.flushFolder(shard)))
    #expect(probe.operations.contains(.flushFolder(artifacts)))
    #expect(!probe.operations.contains { if case .rename = $0 { true } else { false } })
  }

  @Test("a published file outlives a power cut")
  func publishedFile() throws {
    let folder = scratch.file("out")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/note.wav"
    _ = try store.publish(SHA256.digest(of: "x"), at: path, isReplacing: false) {
      (temporary) throws(SpoolError) in
      try put("sound", at: temporary)
    }
    let operations = probe.operations
    let flush = try #require(
      operations.firstIndex {
        if case .flush(let path) = $0 { path.hasPrefix(folder) } else { false }
      })
    let rename = try #require(
      operations.firstIndex { if case .rename(_, path) = $0 { true } else { false } })
    let names = try #require(operations.lastIndex(of: .flushFolder(folder)))
    #expect(flush < rename && rename < names)
  }

  @Test("the database flushes every commit and keeps its word on references")
  func settings() throws {
    try store.withDatabase { (database) throws(SpoolError) in
      #expect(try database.run("PRAGMA synchronous", to: "test") == [[.integer(2)]])
      #expect(try database.run("PRAGMA journal_mode", to: "test") == [[.text("wal")]])
      #expect(try database.run("PRAGMA foreign_keys", to: "test") == [[.integer(1)]])
    }
  }

  @Test("what nobody vouches for rides to the disk with the next commit that counts")
  func deferredCommits() throws {
    func setting(_ database: inout Database) throws(SpoolError) -> [SQLRow] {
      try database.run("PRAGMA synchronous", to: "test")
    }
    let deferred = try store.withDeferringDatabase(to: "test") { (database) throws(SpoolError) in
      try setting(&database)
    }
    #expect(deferred == [[.integer(1)]])
    let run = RunRecord(
      id: RunID("a"), pipeline: "p", pipelinePath: "/p", inputs: [:], overrides: [:], startedAt: 1)
    try store.runs.save(run)
    let claim = try store.granted(SHA256.digest(of: "work"))
    let counting = try store.withDatabase { (database) throws(SpoolError) in
      try setting(&database)
    }
    #expect(counting == [[.integer(2)]])
    claim.end()
    // A failed one leaves nothing behind either.
    #expect(throws: SpoolError.self) {
      try store.withDeferringDatabase(to: "test") { (database) throws(SpoolError) in
        try database.transaction(to: "test") { (database) throws(SpoolError) in
          _ = try database.run("INSERT INTO nowhere VALUES (1)", to: "test")
        }
      }
    }
    let after = try store.withDatabase { (database) throws(SpoolError) in try setting(&database) }
    #expect(after == [[.integer(2)]])
    // Others see at once what was not flushed.
    #expect(try DiskStore(at: store.path).runs.newest(limit: 9).map(\.id) == [run.id])
  }

  @Test("long drafts are handed to the disk while they grow")
  func writeback() throws {
    let draft = try store.makeDraft(.sound)
    let megabyte = [UInt8](repeating: 7, count: 1 << 20)
    for _ in 0..<20 { try draft.append(megabyte) }
    let path = draft.path
    #expect(probe.operations.filter { $0 == .startWriteback(path) }.count == 2)
    #expect(try draft.seal().byteCount == 20 << 20)
  }

  @Test("the power cut of these tests sees a missing flush")
  func witness() {
    let good: [FileOperation] = [
      .makeFolder("/s"), .flushFolder("/"), .write("/s/draft", byteCount: 1), .flush("/s/draft"),
      .rename(from: "/s/draft", to: "/s/final"), .flushFolder("/s"),
    ]
    #expect(PowerCut(after: good).spares("/s/final", under: "/s"))
    for (index, operation) in good.enumerated() {
      var bad = good
      switch operation {
      case .flush, .flushFolder: bad.remove(at: index)
      default: continue
      }
      let cut = PowerCut(after: bad)
      #expect(!cut.spares("/s/final", under: "/s") || !cut.mistakes.isEmpty)
    }
  }
}
