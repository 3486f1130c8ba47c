import Audio
import Foundation
@testable import Media
import Platform
import TestSupport
import Testing

@Suite("Files of chunks")
struct ChunkFilesTests {
  let scratch: ScratchFolder
  let pool = WorkerPool(threadCount: 2)
  static let plan = ChunkPlan.aac(packetsPerChunk: 150)

  init() throws { scratch = try ScratchFolder() }

  /// What can happen to the file of chunk 1.
  enum Harm: String, CaseIterable, Sendable {
    case gone, empty, cut, zeroed, oneBit, longer, otherChunk, otherSound, folder
  }

  @Test(
    "that are not as they were written are made again",
    arguments: Harm.allCases)
  func harmed(_ harm: Harm) throws {
    let interruption = Interruption.aac
    let sound = interruption.sound
    let plan = try #require(interruption.plan)
    let state = try interruption.abandon(
      sound, in: scratch.path, pool: pool, after: plan.input(of: 3).lowerBound)
    try apply(harm, to: interruption)
    let encoder = try interruption.encoder(sound, in: scratch.path, pool: pool, resuming: state)
    #expect(encoder.progress().needsFrom.count == plan.input(of: 1).lowerBound)
    try FileManager.default.removeItemIfFolder(atPath: file(1))
    try encoder.takeRest(of: sound, blockSize: 16384)
    try encoder.finish()
    #expect(
      try bytes(of: scratch.file("export"))
        == interruption.wholeFile(sound, in: scratch.path, pool: pool))
  }

  private func file(_ chunk: Int) -> String { scratch.file("work.\(chunk).packets") }

  private func apply(_ harm: Harm, to interruption: Interruption) throws {
    var data = try bytes(of: file(1))
    switch harm {
    case .gone: return try FileManager.default.removeItem(atPath: file(1))
    case .empty: data = Data()
    case .cut: data.removeLast(data.count / 3)
    case .zeroed: data = Data(count: data.count)
    case .oneBit: data[data.count / 2] ^= 4
    case .longer: data.append(0)
    case .otherChunk: data = try bytes(of: file(2))
    case .otherSound:
      let folder = try ScratchFolder()
      let sound = Sound(
        channels: interruption.channels, rate: interruption.rate, frames: interruption.frames,
        bits: 8)
      _ = try interruption.abandon(
        sound, in: folder.path, pool: pool, after: interruption.frames / 2)
      data = try bytes(of: folder.file("work.1.packets"))
    case .folder:
      try FileManager.default.removeItem(atPath: file(1))
      return try FileManager.default.createDirectory(
        atPath: file(1), withIntermediateDirectories: false)
    }
    try data.write(to: URL(fileURLWithPath: file(1)))
  }

  @Test("behind the first missing one are used as well")
  func laterOnes() throws {
    let plan = try #require(Interruption.aac.plan)
    let sound = Interruption.aac.sound
    let state = try Interruption.aac.abandon(
      sound, in: scratch.path, pool: pool, after: plan.input(of: 4).lowerBound)
    try FileManager.default.removeItem(atPath: file(1))
    let untouched = try modificationDate(of: file(2))
    let encoder = try Interruption.aac.encoder(
      sound, in: scratch.path, pool: pool, resuming: state)
    try encoder.takeRest(of: sound, blockSize: 16384)
    try encoder.finish()
    #expect(try modificationDate(of: file(2)) == untouched)
    #expect(encoder.progress().needsFrom.count >= plan.input(of: 4).lowerBound)
  }

  private func modificationDate(of path: String) throws -> Date? {
    try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
  }

  @Test("are deleted by a new start, other files stay, and nothing is saved after closing")
  func deletion() throws {
    let others = [
      "work", "work.packets", "work.x.packets", "work..packets", "work.1.packets.old",
      "work2.1.packets", "other.1.packets", "work.sub.1.packets",
    ]
    let ours = ["work.1.packets", "work.20.packets", "work.3.packets.new"]
    for name in others + ours { try scratch.write("x", to: name) }
    let files = ChunkFiles(work(resuming: nil), plan: Self.plan)
    #expect(try names() == others.sorted())
    try files.save(PacketRun(first: 0, packets: [[1]]), as: ChunkLabel(0, of: Self.plan))
    #expect(try names() == (others + ["work.0.packets"]).sorted())
    files.close()
    try files.save(PacketRun(first: 0, packets: [[1]]), as: ChunkLabel(1, of: Self.plan))
    #expect(try names() == (others + ["work.0.packets"]).sorted())
  }

  @Test("count as progress only as far as none is missing, and never the last one")
  func extent() throws {
    let files = ChunkFiles(work(resuming: nil), plan: Self.plan)
    func save(_ label: ChunkLabel) throws {
      try files.save(PacketRun(first: 0, packets: [[1, 2]]), as: label)
    }
    func needed(_ chunk: Int) -> Int { Self.plan.input(of: chunk).lowerBound }
    try save(ChunkLabel(1, of: Self.plan))
    #expect(files.extent.frames == 0)
    try save(ChunkLabel(0, of: Self.plan))
    #expect(files.extent.frames == needed(2))
    try save(ChunkLabel(last: 2, of: Self.plan, end: needed(2) + 5000))
    #expect(files.extent.frames == needed(2))
    try files.flush()
    #expect(files.extent.byteCount == 0)
  }

  @Test("fail to be flushed for ever after they failed once")
  func flushFailure() throws {
    let files = ChunkFiles(work(resuming: nil), plan: Self.plan)
    try files.save(PacketRun(first: 0, packets: [[1]]), as: ChunkLabel(0, of: Self.plan))
    try files.flush()
    try files.save(PacketRun(first: 0, packets: [[1]]), as: ChunkLabel(1, of: Self.plan))
    // A device has nothing to flush, and says so.
    try FileManager.default.removeItem(atPath: file(1))
    try FileManager.default.createSymbolicLink(
      atPath: file(1), withDestinationPath: "/dev/full")
    #expect(throws: SpoolError.self) { try files.flush() }
    try files.save(PacketRun(first: 0, packets: [[1]]), as: ChunkLabel(1, of: Self.plan))
    #expect(throws: SpoolError.self) { try files.flush() }
  }

  @Test("say why they cannot be written")
  func unwritable() throws {
    let work = EncodingWork(folder: scratch.file("no/such/folder"), name: "work")
    let sound = Interruption.aac.sound
    let encoder = try Interruption.aac.encoder(
      sound, to: scratch.file("export"), pool: pool, work: work)
    let error = #expect(throws: SpoolError.self) {
      try encoder.takeRest(of: sound, blockSize: 16384)
      try encoder.finish()
    }
    #expect(error?.action == "write" && error?.cause == .environment)
    #expect(error?.path.contains("no/such/folder") == true)
  }

  private func work(resuming: String?) -> ResumableWork {
    ResumableWork(
      EncodingWork(folder: scratch.path, name: "work", resuming: resuming),
      settings: SHA256.digest(of: "settings"))
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: scratch.path).sorted()
  }
}

extension FileManager {
  /// Removes a folder, so that a file can take its name.
  fileprivate func removeItemIfFolder(atPath path: String) throws {
    var isFolder: ObjCBool = false
    if unsafe fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      try removeItem(atPath: path)
    }
  }
}
