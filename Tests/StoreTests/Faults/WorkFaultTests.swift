import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// One piece of work, begun, noted, gone on with and ended, with every call that touches the disk
/// made to fail in turn.
@Suite struct WorkFaultTests {
  private let scratch: ScratchFolder
  private let path: String
  private let work = SHA256.digest(of: "work")
  private let components = KeyComponents.sample("fault", "1")
  /// What the work gives, however often it is begun again.
  private let whole = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ ($0 >> 5)) }

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("store")
  }

  /// Goes on from what was noted, notes every thousand bytes, and commits the whole.
  /// - Returns: how many bytes an earlier process had left.
  @discardableResult
  private func live(_ files: FileOperations) throws -> Int {
    let store = try DiskStore(at: path, files: files)
    let claim = try store.granted(work)
    var done = 0
    var resumed: ArtifactDraft?
    if let recording = try claim.lastEntry(), let count = Int(recording.text) {
      resumed = try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: count))
      if resumed != nil { done = count }
    }
    let present = done
    let draft: ArtifactDraft
    if let found = resumed.take() {
      draft = found
    } else {
      draft = try claim.makeDraft("sound", .sound)
    }
    while done < whole.count {
      try draft.append(Array(whole[done..<done + 600]))
      try draft.append(Array(whole[done + 600..<done + 1000]))
      done += 1000
      try draft.flush()
      try claim.record("\(done)")
    }
    let artifact = try draft.seal()
    try claim.commit(
      Checkpoint(components: components, outputs: [.sound: StepOutput(artifact)]))
    claim.end()
    return present
  }

  private func expectSoundness(_ fault: String) throws {
    #expect(damagedArtifacts(inStore: path) == [], "\(fault)")
    let store = try DiskStore(at: path)
    if let checkpoint = try store.checkpoint(for: components.key) {
      let artifact = try #require(checkpoint.outputs[.sound]?.artifact, "\(fault)")
      #expect(artifact.digest == SHA256.digest(of: whole), "\(fault)")
    }
  }

  private func expectCompletion(_ fault: String, leavesDrafts: Bool = false) throws {
    try live(.system)
    let checkpoint = try DiskStore(at: path).checkpoint(for: components.key)
    #expect(checkpoint?.outputs[.sound]?.artifact?.digest == SHA256.digest(of: whole), "\(fault)")
    #expect(damagedArtifacts(inStore: path) == [], "\(fault)")
    #expect(names(in: path + "/work") == [], "\(fault)")
    if !leavesDrafts { #expect(names(in: path + "/drafts") == [], "\(fault)") }
  }

  @Test(
    "a call that fails harms nothing, and the work is gone on with", arguments: [ENOSPC, EIO])
  func once(code: CInt) throws {
    for number in 1... {
      let probe = FileProbe(.once(number, code: code))
      _ = try? live(probe.files)
      guard let failure = probe.failures.first else {
        #expect(number > 25)
        break
      }
      try expectSoundness("\(failure)")
      try expectCompletion("\(failure)")
      try FileManager.default.removeItem(atPath: path)
    }
  }

  @Test("a process that dies at any call leaves work that is gone on with to the same bytes")
  func death() throws {
    var resumed: Set<Int> = []
    for number in 1... {
      let probe = FileProbe(.deadFrom(number))
      _ = try? live(probe.files)
      if probe.failures.isEmpty { break }
      let fault = "death at \(probe.failures[0])"
      try expectSoundness(fault)
      resumed.insert(try live(.system))
      // The process that died here is this one, so that nobody clears its drafts away.
      try expectCompletion(fault, leavesDrafts: true)
      try FileManager.default.removeItem(atPath: path)
    }
    #expect(resumed == [0, 1000, 2000, 3000])
  }

  @Test("a full disk leaves what was noted to whoever goes on when there is room")
  func fullDisk() throws {
    var resumed: Set<Int> = []
    for number in 1... {
      let probe = FileProbe(.from(number, code: ENOSPC))
      _ = try? live(probe.files)
      guard let first = probe.failures.first else { break }
      try expectSoundness("\(first) and all after it")
      let present = try live(.system)
      // A write that fails spoils nothing that was flushed; a flush that fails spoils all.
      if case .write = first { resumed.insert(present) }
      try expectCompletion("\(first) and all after it")
      try FileManager.default.removeItem(atPath: path)
    }
    #expect(resumed == [0, 1000, 2000, 3000])
  }

  @Test("what fails in one claim leaves the work free for the next")
  func lockIsLetGo() throws {
    _ = try DiskStore(at: path)
    for number in 1...4 {
      let probe = FileProbe(.once(number, code: EIO))
      let store = try DiskStore(at: path, files: probe.files)
      _ = try? store.claim(work, summary: "")
      #expect(probe.failures.count == 1)
      _ = try DiskStore(at: path).granted(work)
    }
  }

  @Test("a draft whose flush failed is not gone on with")
  func failedFlush() throws {
    let store = try DiskStore(at: path, files: .lacking(["flush": EIO]))
    let claim = try store.granted(work)
    let draft = try claim.makeDraft("sound", .sound)
    try draft.append([1, 2, 3])
    #expect(throws: SpoolError.self) { try draft.flush() }
    #expect(throws: SpoolError.self) { try draft.append([4]) }
    #expect(try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: 0))?.path == nil)
  }
}
