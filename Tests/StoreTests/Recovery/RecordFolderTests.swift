import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct RecordFolderTests {
  private let scratch: ScratchFolder
  private let probe = FileProbe()
  private let store: DiskStore
  private let checkpoint = Checkpoint(
    components: .sample("eq", "1"), outputs: [:], memo: #"{"naïve":"\n"}"#, hint: "h")

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"), files: probe.files)
  }

  private func run(_ name: String) -> RunRecord {
    RunRecord(
      id: RunID(name), pipeline: "p", pipelinePath: "/p", inputs: [:], overrides: [:], startedAt: 1)
  }

  @Test("a checkpoint's record says all of it, and outlives a power cut")
  func checkpointRecord() throws {
    try store.commit(checkpoint)
    let path = store.records.path(of: checkpoint.key)
    #expect(
      path.hasSuffix("/\(checkpoint.key.digest.hex.prefix(2))/\(checkpoint.key.digest.hex).json"))
    #expect(try store.records.checkpoint(at: path) == checkpoint)
    let cut = PowerCut(after: probe.operations)
    #expect(cut.mistakes == [])
    #expect(cut.spares(path, under: store.path))
    #expect(names(in: store.path + "/drafts") == [])
  }

  @Test("it holds what the rows hold after several commits, and not the last one alone")
  func merged() throws {
    let sound = try store.makeArtifact("sound", kind: .sound)
    let components = KeyComponents.sample("decode", "1")
    let output = StepOutput(
      kind: .sound, identity: components.derivedIdentity(of: .sound), artifact: sound)
    try store.commit(Checkpoint(components: components, outputs: [.sound: output], hint: "3 s"))
    let bare = StepOutput(kind: .sound, identity: output.identity)
    try store.commit(Checkpoint(components: components, outputs: [.sound: bare], memo: "{}"))
    let record = try store.records.checkpoint(at: store.records.path(of: components.key))
    #expect(
      record
        == Checkpoint(
          components: components, outputs: [.sound: output], memo: "{}", hint: "3 s"))
    #expect(try store.checkpoint(for: components.key) == record)
  }

  @Test("several are written before one is flushed, and named before a folder is")
  func several() throws {
    let checkpoints = (0..<6).map { Checkpoint(components: .sample("eq", "\($0)"), outputs: [:]) }
    let claim = try store.granted(SHA256.digest(of: "work"))
    // The first begins the ledger.
    try claim.commit([Checkpoint(components: .sample("eq", "first"), outputs: [:])])
    let before = probe.operations.count
    try claim.commit(checkpoints)
    let operations = probe.operations[before...].filter { operation in
      let words = "\(operation)"
      return words.contains("/drafts/")
        || words.contains(store.path + "/records/") && !words.contains("/ledger-")
    }
    func places(_ isWanted: (FileOperation) -> Bool) -> [Int] {
      operations.indices.filter { isWanted(operations[$0]) }
    }
    let writes = places { if case .write = $0 { true } else { false } }
    let flushes = places { if case .flush = $0 { true } else { false } }
    let renames = places { if case .rename = $0 { true } else { false } }
    let folders = places { if case .flushFolder = $0 { true } else { false } }
    #expect(writes.count == 6 && flushes.count == 6 && renames.count == 6)
    #expect(try #require(writes.last) < #require(flushes.first))
    #expect(try #require(flushes.last) < #require(renames.first))
    #expect(try #require(renames.last) < #require(folders.first))
    let cut = PowerCut(after: probe.operations)
    #expect(cut.mistakes == [])
    for checkpoint in checkpoints {
      let path = store.records.path(of: checkpoint.key)
      #expect(cut.spares(path, under: store.path))
      #expect(try store.records.checkpoint(at: path) == checkpoint)
    }
  }

  @Test("of parts that are recorded together, none counts where one cannot")
  func allOrNone() throws {
    let artifact = Artifact(kind: .file, digest: SHA256.digest(of: "gone"), byteCount: 4)
    let broken = Checkpoint(
      components: .sample("export", "1"),
      outputs: [
        PortName("file"): StepOutput(kind: .file, identity: artifact.digest, artifact: artifact)
      ])
    let claim = try store.granted(SHA256.digest(of: "work"))
    #expect(throws: SpoolError.self) { try claim.commit([checkpoint, broken]) }
    #expect(try store.checkpoint(for: checkpoint.key) == nil)
    try claim.commit([checkpoint])
    #expect(try store.checkpoint(for: checkpoint.key) == checkpoint)
  }

  @Test("what could not be recorded beside the database is not recorded in it either")
  func order() throws {
    let path = store.records.path(of: checkpoint.key)
    for isFailing in ["flush", "rename", "flushFolder"] {
      let files = FileOperations { (operation) throws(SystemError) in
        let words = "\(operation)"
        if words.hasPrefix(isFailing + "("),
          words.contains("/drafts/") || words.contains("/records/")
        {
          throw SystemError(ENOSPC)
        }
      }
      let failing = try DiskStore(at: store.path, files: files)
      let error = try #require(throws: SpoolError.self) { try failing.commit(checkpoint) }
      #expect(error.path == path && error.reason == "No space left on device")
      #expect(try failing.checkpoint(for: checkpoint.key) == nil, "\(isFailing)")
      #expect(names(in: store.path + "/drafts") == [])
    }
  }

  @Test("a run is recorded when it begins and when it ends")
  func runs() throws {
    var run = run("20261121-142205-3f9a")
    try store.runs.save(run)
    #expect(store.records.runPaths == [store.path + "/records/runs/20261121-142205-3f9a.json"])
    #expect(try store.records.run(at: store.records.path(of: run.id)) == run)
    run.state = .interrupted
    try store.runs.save(run)
    #expect(store.records.runPaths == [store.path + "/records/runs/20261121-142205-3f9a.json"])
    #expect(try store.records.run(at: store.records.path(of: run.id)) == run)
  }

  @Test("no run's name leads out of the folder", arguments: ["../../x", "a/b", "", "..", "ä"])
  func hostile(name: String) throws {
    var run = run(name)
    run.state = .done
    try store.runs.save(run)
    let path = store.records.path(of: run.id)
    #expect(store.records.runPaths == [path])
    #expect(try store.records.run(at: path) == run)
  }

  @Test("a record under another name is not believed")
  func renamed() throws {
    try store.commit(checkpoint)
    let path = store.records.path(of: checkpoint.key)
    let other = store.records.path(of: KeyComponents.sample("eq", "2").key)
    try FileManager.default.createDirectory(
      atPath: FilePath.folder(of: other), withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: path, toPath: other)
    #expect(try store.records.checkpoint(at: other) == nil)
  }

  @Test("a record that cannot be opened for want of files is not taken for damaged")
  func exhausted() throws {
    try store.commit(checkpoint)
    let path = store.records.path(of: checkpoint.key)
    let files = FileOperations { (operation) throws(SystemError) in
      if operation == .open(path) { throw SystemError(EMFILE) }
    }
    let records = RecordFolder(
      layout: StoreLayout(root: store.path), drafts: store.drafts, files: files)
    #expect(throws: SpoolError.self) { try records.checkpoint(at: path) }
  }
}
