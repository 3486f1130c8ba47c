import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct DiskStoreTests {
  private let scratch: ScratchFolder
  private let path: String

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("store")
  }

  @Test("keeps every promise of an artifact store")
  func conformance() {
    let violations = StoreConformance.violations {
      try DiskStore(at: scratch.file(UUID().uuidString))
    }
    #expect(violations == [])
  }

  @Test("lays artifacts out by their digests, read-only, in folders for their owner only")
  func layout() throws {
    let store = try DiskStore(at: path)
    let artifact = try store.makeArtifact("abc")
    let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    #expect(try store.path(of: artifact) == "\(path)/artifacts/ba/\(hex)")
    let manager = FileManager.default
    func mode(_ path: String) throws -> Int? {
      try manager.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    #expect(try mode("\(path)/artifacts/ba/\(hex)") == 0o444)
    #expect(try mode(path) == 0o700)
    #expect(names(in: "\(path)/drafts") == [])
  }

  @Test("finds everything again when it is opened anew")
  func reopening() throws {
    let checkpoint: Checkpoint
    do {
      let store = try DiskStore(at: path)
      let artifact = try store.makeArtifact("kept")
      checkpoint = Checkpoint(
        components: .sample("eq", "1"), outputs: [.sound: StepOutput(artifact)], hint: "h")
      try store.commit(checkpoint)
    }
    let store = try DiskStore(at: path)
    #expect(try store.checkpoint(for: checkpoint.key) == checkpoint)
    #expect(try store.hasCheckpoint(kind: "eq", hint: "h"))
  }

  @Test("opens an existing store without touching its files")
  func opening() throws {
    // Kept open, as by another spool.
    let other = try DiskStore(at: path)
    let probe = FileProbe()
    _ = try DiskStore(at: path, files: probe.files)
    #expect(probe.operations == [])
    _ = other
  }

  @Test("kept sound that is gone is left out, and streamed again")
  func soundGone() throws {
    let store = try DiskStore(at: path)
    let sound = try store.makeArtifact("sound", kind: .sound)
    let checkpoint = Checkpoint(
      components: .sample("eq", "1"), outputs: [.sound: StepOutput(sound)], memo: "{}")
    try store.commit(checkpoint)
    try FileManager.default.removeItem(atPath: store.path(of: sound))
    let found = try #require(try store.checkpoint(for: checkpoint.key))
    #expect(found.outputs[.sound]?.identity == sound.digest)
    #expect(found.outputs[.sound]?.artifact == nil)
    #expect(found.memo == "{}")
  }

  @Test("a checkpoint that names a file which is gone or cut short is none")
  func fileGone() throws {
    let store = try DiskStore(at: path)
    let file = try store.makeArtifact("a whole file")
    let checkpoint = Checkpoint(
      components: .sample("export", "1"), outputs: [PortName("file"): StepOutput(file)])
    try store.commit(checkpoint)
    let place = try store.path(of: file)
    #expect(unsafe chmod(place, 0o600) == 0 && truncate(place, 3) == 0)
    #expect(try store.checkpoint(for: checkpoint.key) == nil)

    // Made again, it takes the damaged one's place.
    #expect(try store.makeArtifact("a whole file") == file)
    #expect(text(at: place) == "a whole file")
    try store.commit(checkpoint)
    #expect(try store.checkpoint(for: checkpoint.key) == checkpoint)
    try FileManager.default.removeItem(atPath: place)
    #expect(try store.checkpoint(for: checkpoint.key) == nil)
  }

  @Test("a draft whose file was replaced by another program is sealed as what lies there")
  func replacedDraft() throws {
    let store = try DiskStore(at: path)
    let draft = try store.makeDraft(.file)
    try draft.append(Array("first".utf8))
    try scratch.write("second", to: "other")
    #expect(unsafe rename(scratch.file("other"), draft.path) == 0)
    let artifact = try draft.seal()
    #expect(text(at: try store.path(of: artifact)) == "second")
    #expect(artifact.digest == SHA256.digest(of: "second"))
  }

  @Test("says how much room there is, as df does")
  func freeSpace() throws {
    let store = try DiskStore(at: path)
    let df = try #require(Program(named: "df"))
    let words = try df.run(["--output=avail", "-B1", path]).text.split(separator: "\n")
    let expected = try #require(Double(words[1].trimmingCharacters(in: .whitespaces)))
    #expect(abs(Double(try store.freeByteCount()) - expected) < 2e9)
    #expect(throws: SpoolError.self) {
      try DiskStore.freeByteCount(inFolder: scratch.file("absent"))
    }
  }

  @Test("a file in the store's place is refused with advice")
  func fileInPlace() throws {
    try scratch.write("text", to: "store")
    let error = try #require(throws: SpoolError.self) { try DiskStore(at: path) }
    #expect(error.reason == "it is a file" && error.path == path)
    #expect(error.advice?.contains("--store") == true)
    #expect(throws: SpoolError.self) { try DiskStore(at: path + "/below") }
  }

  @Test("a database that is none is made again, and kept aside")
  func corruptDatabase() throws {
    do { _ = try DiskStore(at: path) }
    try Data(String(repeating: "garbage ", count: 4096).utf8)
      .write(to: URL(fileURLWithPath: path + "/spool.sqlite"))
    let recovery = try #require(try DiskStore(at: path).recovery)
    #expect(recovery.cause == "file is not a database")
    let aside = try #require(recovery.keptAside)
    #expect(text(at: aside)?.hasPrefix("garbage") == true)
  }
}
