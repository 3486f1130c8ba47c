import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// After a repair, checkpoints are gone that named undamaged files too.
@Suite("A repair and a collection free nothing that only they could lose")
struct LastCopyTests {
  enum Damage: CaseIterable { case loss, flip }

  private let scratch: ScratchFolder
  private let path: String
  /// Words and receipts first, then what else the run made, and the original of a recording.
  private let artifacts: [Artifact]
  private static let (lasting, count) = (3, 7)

  /// A run of a recording of an inbox: its sound with figures, its words with figures, the words moved, a
  /// file and a receipt.
  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("store")
    let store = try DiskStore(at: path)
    let original = try store.makeArtifact("original", kind: .sound)
    var arrival = RecordingArrival(
      pipeline: "voice", inbox: "/inbox", path: "a.m4a",
      stamp: RecordingFileStamp(inode: 1, byteCount: 8, modified: 7, changed: 8), fileName: "a.m4a",
      recording: original)
    arrival.deviceID = "device"
    _ = try store.recordings.admit(arrival, conflicts: .quarantine)
    let words = try store.makeArtifact("words", kind: .transcript)
    let moved = try store.makeArtifact("words moved", kind: .transcript)
    let receipt = try store.makeArtifact("receipt", kind: .receipt)
    let sound = try store.makeArtifact("sound", kind: .sound)
    let levels = try store.makeArtifact("levels", kind: .measurement)
    let rates = try store.makeArtifact("rates", kind: .measurement)
    artifacts = [words, moved, receipt, sound, levels, rates, original]
    func made(_ kind: String, of input: Digest, _ outputs: [PortName: Artifact]) -> Checkpoint {
      Checkpoint(
        components: .sample(kind, "1", of: input), outputs: outputs.mapValues { StepOutput($0) })
    }
    let words1 = PortName("words")
    let checkpoints = [
      made("decode", of: original.digest, [.sound: sound, .measurement: levels]),
      made("recognize", of: sound.digest, [words1: words, .measurement: rates]),
      made("retime", of: words.digest, [words1: moved]),
      made("sign", of: moved.digest, [PortName("receipt"): receipt]),
    ]
    for checkpoint in checkpoints { try store.commit(checkpoint) }
    var run = RunRecord(
      id: RunID("20261121-142205-3f9a"), pipeline: "voice", pipelinePath: "/p/voice.yaml",
      inputs: ["note": "/in/a.m4a"], overrides: [:], startedAt: 1_700_000_000)
    run.recordings = ["note": original.digest]
    run.steps = checkpoints.map {
      StepRecord(
        id: StepID($0.components.kind), kind: $0.components.kind, outcome: .made, key: $0.key,
        outputs: $0.outputs)
    }
    run.state = .done
    run.finishedAt = 1_700_000_001
    try store.runs.save(run)
  }

  private func file(_ artifact: Artifact) -> String {
    StoreLayout(root: path).artifact(artifact.digest)
  }

  private func aside(_ artifact: Artifact) -> String { "\(path)/damaged/\(artifact.digest.hex)" }

  private func harm(_ artifact: Artifact, _ damage: Damage) throws {
    switch damage {
    case .loss: try FileManager.default.removeItem(atPath: file(artifact))
    case .flip: try flipBit(3, ofByte: 1, in: file(artifact))
    }
  }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  /// Frees everything that may be freed.
  private func collectAll() throws -> CollectionReport {
    var policy = CollectionPolicy()
    (policy.age, policy.grace) = (0, 0)
    return try DiskStore(at: path).collect(policy)
  }

  @Test(
    "words, receipts and originals that are not damaged stay, whatever else is",
    arguments: 0..<count, Damage.allCases)
  func undamaged(number: Int, damage: Damage) throws {
    let harmed = artifacts[number]
    try harm(harmed, damage)
    _ = try Repair(of: path).run()
    _ = try collectAll()
    for artifact in artifacts.prefix(Self.lasting) + artifacts.suffix(1) where artifact != harmed {
      #expect(isThere(file(artifact)), "\(artifact.kind) went")
    }
    let findings = try Inspection(of: path).run().findings
    #expect(!findings.contains { $0.kind == .unnamedArtifact }, "\(findings)")
    #expect(try collectAll().files == [])
  }

  @Test(
    "a damaged file that nothing can make again stays aside, and is listed", arguments: 0..<count)
  func damaged(number: Int) throws {
    let harmed = artifacts[number]
    try harm(harmed, .flip)
    _ = try Repair(of: path).run()
    let isLast = number < Self.lasting || number == Self.count - 1
    let contents = try DiskStore(at: path).contents(CollectionPolicy())
    #expect(contents.lastCopies == (isLast ? [aside(harmed)] : []))
    let freed = try collectAll().files.map(\.path)
    #expect(isThere(aside(harmed)) == isLast && freed.contains(aside(harmed)) == !isLast)
  }

  @Test("a damaged original is freed as soon as it came again")
  func sentAgain() throws {
    let original = artifacts[Self.count - 1]
    try harm(original, .flip)
    _ = try Repair(of: path).run()
    do { _ = try DiskStore(at: path).makeArtifact("original", kind: .sound) }
    #expect(try collectAll().files.map(\.path).contains(aside(original)))
    #expect(isThere(file(original)) && !isThere(aside(original)))
  }

  @Test("files that no record names count in the size of the store")
  func unnamed() throws {
    let store = try DiskStore(at: path)
    func unnamed() throws -> Int? {
      try store.contents(CollectionPolicy()).kinds.first { $0.name == "unnamed" }?.byteCount
    }
    #expect(try unnamed() == nil)
    _ = try store.makeArtifact("of a lost record")
    #expect(try unnamed() == 16)
  }
}
