import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import Synchronization
import TestSupport
import Testing

@Suite("An artifact is verified before it is used again")
struct VerificationTests {
  private let scratch: ScratchFolder
  private var path: String { scratch.file("store") }

  init() throws { scratch = try ScratchFolder() }

  /// Every read of an artifact's bytes.
  private final class Reads: Sendable {
    private let count = Mutex(0)
    var operations: FileOperations {
      FileOperations { (operation) throws(SystemError) in
        if case .read(let path) = operation, path.contains("/artifacts/") {
          self.count.withLock { $0 += 1 }
        }
      }
    }
    func take() -> Int {
      count.withLock { count in
        defer { count = 0 }
        return count
      }
    }
  }

  private func lines(of store: DiskStore) -> Shared<[String]> {
    let lines = Shared<[String]>([])
    store.listen { line in lines.value.withLock { $0.append(line) } }
    return lines
  }

  /// A chain: kept sound, a stage that has heard it, and an export of that.
  private struct Chain {
    let sound: Artifact
    let checkpoints: [Checkpoint]
  }

  private func chain(in store: DiskStore) throws -> Chain {
    let sound = try store.makeArtifact(String(repeating: "sound", count: 100), kind: .sound)
    let decode = KeyComponents.sample("decode", "1")
    let kept = StepOutput(kind: .sound, identity: sound.digest, artifact: sound)
    let gain = KeyComponents.sample("gain", "1", of: sound.digest)
    let streamed = StepOutput(kind: .sound, identity: gain.derivedIdentity(of: .sound))
    let export = KeyComponents.sample("export", "1", of: streamed.identity)
    let file = try store.makeArtifact("an export")
    let chain = [
      Checkpoint(components: decode, outputs: [.sound: kept]),
      Checkpoint(components: gain, outputs: [.sound: streamed]),
      Checkpoint(components: export, outputs: [PortName("file"): StepOutput(file)]),
      Checkpoint(components: .sample("other", "1"), outputs: [:]),
    ]
    for checkpoint in chain { try store.commit(checkpoint) }
    return Chain(sound: sound, checkpoints: chain)
  }

  private func place(_ artifact: Artifact) -> String {
    StoreLayout(root: path).artifact(artifact.digest)
  }

  @Test("what was sealed is trusted by its stamp, also after a restart, and not read")
  func trust() throws {
    let chain = try chain(in: DiskStore(at: path))
    let reads = Reads()
    let store = try DiskStore(at: path, files: reads.operations)
    for checkpoint in chain.checkpoints {
      #expect(try store.checkpoint(for: checkpoint.key) == checkpoint)
    }
    #expect(try store.path(of: chain.sound) == place(chain.sound))
    #expect(reads.take() == 0)
  }

  @Test("a draft of work that lost its second name is still trusted")
  func workFolder() throws {
    let reads = Reads()
    let store = try DiskStore(at: path, files: reads.operations)
    let claim = try store.granted(SHA256.digest(of: "work"))
    let draft = try claim.makeDraft("sound", .sound)
    try draft.append(Array("kept sound".utf8))
    let artifact = try draft.seal()
    claim.end()
    #expect(try FileStamp(at: place(artifact)).hasSeveralNames == false)
    #expect(try DiskStore(at: path, files: reads.operations).path(of: artifact) == place(artifact))
    #expect(reads.take() == 0)
  }

  @Test("a file whose times alone were changed is read once, and trusted again")
  func touched() throws {
    let chain = try chain(in: DiskStore(at: path))
    #expect(unsafe utimensat(AT_FDCWD, place(chain.sound), nil, 0) == 0)
    let reads = Reads()
    for count in [true, false] {
      let store = try DiskStore(at: path, files: reads.operations)
      #expect(try store.path(of: chain.sound) == place(chain.sound))
      #expect((reads.take() > 0) == count)
    }
  }

  @Test("noting that an artifact was wanted does not cost it its trust")
  func lastUse() throws {
    let chain = try chain(in: DiskStore(at: path))
    let old = Date(timeIntervalSinceNow: -7200)
    try FileManager.default.setAttributes(
      [.modificationDate: old], ofItemAtPath: place(chain.sound))
    let reads = Reads()
    let store = try DiskStore(at: path, files: reads.operations)
    _ = try store.path(of: chain.sound)
    #expect(reads.take() > 0)
    #expect(try FileStamp(at: place(chain.sound)).modified > Clock.now() - 60_000_000_000)
    _ = try DiskStore(at: path, files: reads.operations).path(of: chain.sound)
    #expect(reads.take() == 0)
  }

  @Test("an artifact that is read as input is hashed again after 30 days, and not for planning")
  func age() throws {
    let chain = try chain(in: DiskStore(at: path))
    let reads = Reads()
    let later = Clock.now() + 31 * 86_400 * 1_000_000_000
    let store = try DiskStore(at: path, files: reads.operations, clock: { later })
    _ = try store.checkpoint(for: chain.checkpoints[0].key)
    #expect(reads.take() == 0)
    _ = try store.path(of: chain.sound)
    #expect(reads.take() > 0)
    _ = try store.path(of: chain.sound)
    #expect(reads.take() == 0)
  }

  @Test("a flipped bit is caught on the next use: set aside, struck, and told in one line")
  func flipped() throws {
    let chain = try chain(in: DiskStore(at: path))
    try flipBit(3, ofByte: 77, in: place(chain.sound))
    let store = try DiskStore(at: path)
    let lines = lines(of: store)
    let found = try store.checkpoint(for: chain.checkpoints[0].key)
    #expect(found?.outputs[.sound]?.artifact == nil)
    #expect(found?.outputs[.sound]?.identity == chain.sound.digest)
    #expect(throws: SpoolError.self) { try store.path(of: chain.sound) }
    #expect(lines.value.withLock { $0.count } == 1)
    #expect(lines.value.withLock { $0.first?.contains(chain.sound.digest.short) } == true)
    #expect(!FileManager.default.fileExists(atPath: place(chain.sound)))
    #expect(names(in: path + "/damaged") == [chain.sound.digest.hex])
    #expect(try Inspection(of: path).run().isSound)
  }

  @Test("what may have been computed from damaged bytes goes with them, and nothing else does")
  func downstream() throws {
    let chain = try chain(in: DiskStore(at: path))
    try flipBit(0, ofByte: 0, in: place(chain.sound))
    let store = try DiskStore(at: path)
    _ = try store.checkpoint(for: chain.checkpoints[0].key)
    for index in [1, 2] {
      #expect(try store.checkpoint(for: chain.checkpoints[index].key) == nil)
      let key = chain.checkpoints[index].key
      let logged = store.logged { (log) throws(SpoolError) in
        try CheckpointTable.checkpoint(for: key, in: &log)
      }
      #expect(logged == nil)
    }
    #expect(try store.checkpoint(for: chain.checkpoints[3].key) != nil)
  }

  @Test("what is older than the last good verification stays")
  func olderDownstream() throws {
    let chain = try chain(in: DiskStore(at: path))
    // Its times are changed and it is read: good bytes, after everything was computed.
    #expect(unsafe utimensat(AT_FDCWD, place(chain.sound), nil, 0) == 0)
    _ = try DiskStore(at: path).path(of: chain.sound)
    try flipBit(0, ofByte: 0, in: place(chain.sound))
    let store = try DiskStore(at: path)
    _ = try store.checkpoint(for: chain.checkpoints[0].key)
    for index in [1, 2, 3] {
      #expect(
        try store.checkpoint(for: chain.checkpoints[index].key) == chain.checkpoints[index])
    }
  }

  @Test("repair takes what may have been computed from damaged bytes with them")
  func repair() throws {
    let chain = try chain(in: DiskStore(at: path))
    try flipBit(0, ofByte: 0, in: place(chain.sound))
    _ = try Repair(of: path).run()
    let store = try DiskStore(at: path)
    #expect(try store.checkpoint(for: chain.checkpoints[0].key)?.outputs[.sound]?.artifact == nil)
    #expect(try store.checkpoint(for: chain.checkpoints[1].key) == nil)
    #expect(try store.checkpoint(for: chain.checkpoints[2].key) == nil)
    #expect(try store.checkpoint(for: chain.checkpoints[3].key) != nil)
  }

  @Test("what is made again with other bytes is told of, and with the same is not")
  func remade() throws {
    let chain = try chain(in: DiskStore(at: path))
    try flipBit(0, ofByte: 0, in: place(chain.sound))
    let store = try DiskStore(at: path)
    _ = try store.checkpoint(for: chain.checkpoints[0].key)
    let lines = lines(of: store)
    lines.value.withLock { $0 = [] }
    _ = try store.makeArtifact(String(repeating: "sound", count: 100), kind: .sound)
    try store.commit(chain.checkpoints[0])
    try store.commit(chain.checkpoints[1])
    #expect(lines.value.withLock { $0 } == [])
    let other = try store.makeArtifact("another export")
    try store.commit(
      Checkpoint(
        components: chain.checkpoints[2].components,
        outputs: [PortName("file"): StepOutput(other)]))
    #expect(lines.value.withLock { $0.count } == 1)
    #expect(lines.value.withLock { $0.first?.contains("a damaged artifact") } == true)
  }

  @Test("good bytes replace damaged ones that lie under their name")
  func replaced() throws {
    let store = try DiskStore(at: path)
    let artifact = try store.makeArtifact("some bytes")
    try flipBit(0, ofByte: 0, in: place(artifact))
    #expect(try store.makeArtifact("some bytes") == artifact)
    #expect(text(at: place(artifact)) == "some bytes")
    #expect(try store.path(of: artifact) == place(artifact))
  }

  @Test(
    "an artifact that the disk cannot read is damaged; one for which no file can be opened is not")
  func unreadable() throws {
    let artifact = try DiskStore(at: path).makeArtifact("some bytes")
    for (code, isDamage) in [(EMFILE, false), (EIO, true)] {
      #expect(unsafe utimensat(AT_FDCWD, place(artifact), nil, 0) == 0)
      let store = try DiskStore(
        at: path,
        files: FileOperations { (operation) throws(SystemError) in
          if case .open(let path) = operation, path.contains("/artifacts/"), code == EMFILE {
            throw SystemError(code)
          }
          if case .read(let path) = operation, path.contains("/artifacts/") {
            throw SystemError(code)
          }
        })
      #expect(throws: SpoolError.self) { try store.path(of: artifact) }
      #expect(FileManager.default.fileExists(atPath: place(artifact)) != isDamage)
    }
  }

  @Test("a batch looks again at a file whose artifact was changed, and not where it was freed")
  func batch() throws {
    // The stamp of a file that has just changed is not trusted.
    let store = try DiskStore(at: path, files: .system, clock: { Clock.now() + 3_000_000_000 })
    let artifact = try store.makeArtifact("an export of the store")
    let folder = scratch.file("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let recording = folder + "/a.wav"
    try Data("recording".utf8).write(to: URL(fileURLWithPath: recording))
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -60)], ofItemAtPath: recording)
    let batch = SHA256.digest(of: "batch")
    let entry = BatchEntry(
      path: "a.wav", recording: try store.digest(ofFile: recording), sidecar: nil,
      settings: batch, name: "a", state: .done, mediaSeconds: 1, report: "{}")
    try store.batches.remember(entry, of: batch, exports: [], artifacts: [artifact.digest])
    #expect(try store.batches.entries(of: batch, in: folder).map(\.isCurrent) == [true])
    try flipBit(1, ofByte: 1, in: place(artifact))
    #expect(try store.batches.entries(of: batch, in: folder).map(\.isCurrent) == [false])
    try FileManager.default.removeItem(atPath: place(artifact))
    #expect(try store.batches.entries(of: batch, in: folder).map(\.isCurrent) == [true])
  }
}

/// A mutex that may be handed on.
private final class Shared<Value: Sendable>: Sendable {
  let value: Mutex<Value>
  init(_ value: Value) { self.value = Mutex(value) }
}
