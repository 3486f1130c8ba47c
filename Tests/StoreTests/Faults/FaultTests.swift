import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// One short life of a store, with every call that touches the disk made to fail in turn.
@Suite struct FaultTests {
  private let scratch: ScratchFolder
  private var out: String { scratch.file("out/note.wav") }
  private let checkpointKey = KeyComponents.sample("fault", "1")

  init() throws {
    scratch = try ScratchFolder()
    try FileManager.default.createDirectory(
      atPath: scratch.file("out"), withIntermediateDirectories: true)
    try scratch.write("a recording", to: "in.m4a")
  }

  private func live(_ files: FileOperations, in path: String) throws {
    let store = try DiskStore(at: path, files: files)
    _ = try store.digest(ofFile: scratch.file("in.m4a"))
    let draft = try store.makeDraft(.sound)
    try draft.append([UInt8](repeating: 1, count: 3000))
    try draft.flush()
    try draft.append([UInt8](repeating: 2, count: 100))
    let artifact = try draft.seal()
    try store.commit(
      Checkpoint(components: checkpointKey, outputs: [.sound: StepOutput(artifact)]))
    _ = try store.publish(artifact.digest, at: out, isReplacing: false) {
      (temporary) throws(SpoolError) in
      try store.copyFile(from: store.path(of: artifact), to: temporary)
    }
  }

  private func expectConsistency(_ path: String, _ fault: String) throws {
    #expect(damagedArtifacts(inStore: path) == [], "\(fault)")
    if let exported = try? Data(contentsOf: URL(fileURLWithPath: out)) {
      #expect(exported.count == 3100, "\(fault)")
    }
    let store = try DiskStore(at: path)
    if let checkpoint = try store.checkpoint(for: checkpointKey.key) {
      let artifact = try #require(checkpoint.outputs[.sound]?.artifact, "\(fault)")
      #expect((try? store.path(of: artifact)) != nil, "\(fault)")
    }
  }

  @Test(
    "a call that fails leaves nothing half done, and the next try succeeds",
    arguments: [ENOSPC, EIO])
  func once(code: CInt) throws {
    let path = scratch.file("store")
    for number in 1... {
      let probe = FileProbe(.once(number, code: code))
      let isDone = (try? live(probe.files, in: path)) != nil
      guard let failure = probe.failures.first else {
        #expect(isDone && number > 20)
        break
      }
      // Only speed depends on when the disk begins to write; and what the file system fails to copy by
      // itself is read and written, which tells the one from the other.
      let isHarmless =
        switch failure {
        case .startWriteback: true
        case .copyRange, .clone: code == EIO
        default: false
        }
      #expect(isDone == isHarmless, "\(failure)")
      try expectConsistency(path, "\(failure)")
      #expect(names(in: path + "/drafts") == [], "\(failure)")
      #expect(names(in: scratch.file("out")) == (isDone ? ["note.wav"] : []), "\(failure)")
      try live(.system, in: path)
      #expect(names(in: scratch.file("out")) == ["note.wav"], "\(failure)")
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.removeItem(atPath: out)
    }
  }

  @Test("a disk that stays full leaves no half file under a final name")
  func fullDisk() throws {
    let path = scratch.file("store")
    for number in stride(from: 1, through: 40, by: 3) {
      let probe = FileProbe(.from(number, code: ENOSPC))
      var error: SpoolError?
      do { try live(probe.files, in: path) } catch let thrown as SpoolError { error = thrown }
      if probe.failures.isEmpty { break }
      let fault = "\(probe.failures[0]) and all after it"
      #expect(
        error.map { $0.isFullDisk && $0.message.contains(/^the disk of .* is full$/) } ?? true,
        "\(fault): \(error.debugDescription)")
      try expectConsistency(path, fault)
      #expect(names(in: path + "/drafts") == [], "\(fault)")
      #expect(names(in: scratch.file("out")).filter { $0.hasSuffix(".part") } == [], "\(fault)")
      try? FileManager.default.removeItem(atPath: path)
      try? FileManager.default.removeItem(atPath: out)
    }
  }

  @Test("a process that dies at any call leaves no half file under a final name")
  func death() throws {
    let path = scratch.file("store")
    for number in 1... {
      let probe = FileProbe(.deadFrom(number))
      try? live(probe.files, in: path)
      if probe.failures.isEmpty { break }
      try expectConsistency(path, "death at \(probe.failures[0])")
      try? FileManager.default.removeItem(atPath: path)
      try? FileManager.default.removeItem(atPath: out)
    }
  }

  @Test("a flush that failed is never tried again, and the draft is lost")
  func failedFlush() throws {
    let path = scratch.file("store")
    let dry = FileProbe()
    _ = try DiskStore(at: path, files: dry.files)
    // Reopening an existing store touches no file; then come open, write and flush.
    let probe = FileProbe(.once(3, code: EIO))
    let store = try DiskStore(at: path, files: probe.files)
    let draft = try store.makeDraft(.file)
    try draft.append([1, 2, 3])
    #expect(throws: SpoolError.self) { try draft.flush() }
    #expect(throws: SpoolError.self) { try draft.flush() }
    #expect(throws: SpoolError.self) { try draft.append([4]) }
    let artifact = try? draft.seal()
    #expect(artifact == nil)
    #expect(probe.operations.filter { if case .flush = $0 { true } else { false } }.count == 1)
    #expect(names(in: path + "/drafts") == [] && names(in: path + "/artifacts") == [])
  }

  @Test("a full database refuses the checkpoint and says why")
  func fullDatabase() throws {
    let store = try DiskStore(at: scratch.file("store"))
    try store.withDatabase { (database) throws(SpoolError) in
      _ = try database.run("PRAGMA max_page_count = 1", to: "test")
    }
    let long = Checkpoint(
      components: checkpointKey, outputs: [:], memo: String(repeating: "x", count: 100_000))
    let error = try #require(throws: SpoolError.self) { try store.commit(long) }
    #expect(error.why.contains("full"))
    #expect(error.advice?.contains("free some space") == true)
    #expect(try store.checkpoint(for: long.key) == nil)
  }
}
