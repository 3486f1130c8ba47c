import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct SeveralProcessesTests {
  private let scratch: ScratchFolder
  private let path: String

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("store")
    try FileManager.default.createDirectory(
      atPath: scratch.file("out"), withIntermediateDirectories: true)
  }

  @Test("what a killed process was writing is removed when the store is opened next")
  func killed() async throws {
    let (path, out) = (path, scratch.file("out"))
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, out = out as String] in
      let store = try DiskStore(at: path)
      let draft = try store.makeDraft(.sound)
      try draft.append(Array("half a so".utf8))
      _ = try store.publish(SHA256.digest(of: "x"), at: out + "/note.wav", isReplacing: false) {
        (temporary) throws(SpoolError) in
        try put("half", at: temporary)
        kill(getpid(), SIGKILL)
      }
      _ = consume draft
    }
    #expect(names(in: path + "/drafts").count == 1)
    #expect(names(in: out).count == 1)
    _ = try DiskStore(at: path)
    #expect(names(in: path + "/drafts") == [])
    #expect(names(in: out) == [])
  }

  @Test("what a living process is writing is left alone by others that open the store")
  func living() async throws {
    let store = try DiskStore(at: path)
    let draft = try store.makeDraft(.sound)
    try draft.append(Array("sound".utf8))
    let path = path
    await #expect(processExitsWith: .success) { [path = path as String] in
      _ = try DiskStore(at: path)
    }
    _ = try DiskStore(at: path)
    #expect(names(in: path + "/drafts").count == 1)
    #expect(try draft.seal().byteCount == 5)
  }

  @Test("a file whose lock is held is left alone though its process is not to be seen")
  func otherContainer() throws {
    let store = try DiskStore(at: path)
    let stranger = ProcessIdentity(boot: "00000000", number: 1, start: 1)
    let file = "\(path)/drafts/\(AbandonedFiles.newName(for: stranger))"
    let held = try FileOperations.system.open(file, O_RDWR | O_CREAT, mode: 0o600)
    let isHeld = held.tryLock()
    #expect(isHeld)
    store.drafts.sweep()
    #expect(names(in: path + "/drafts").count == 1)
    _ = consume held
    // A child that another test is just starting holds the lock too, until it is another program.
    for _ in 0..<100 where names(in: path + "/drafts") != [] {
      usleep(20_000)
      store.drafts.sweep()
    }
    #expect(names(in: path + "/drafts") == [])
  }

  @Test("a living process's file is left alone though another program put it there unlocked")
  func replacedWhileLiving() throws {
    let store = try DiskStore(at: path)
    let draft = try store.makeDraft(.file)
    try scratch.write("other", to: "other")
    #expect(unsafe rename(scratch.file("other"), draft.path) == 0)
    _ = try DiskStore(at: path)
    #expect(try draft.seal().byteCount == 5)
  }

  @Test("two processes may make and fill one store at once")
  func together() async throws {
    let path = path
    async let first: Void = fill(path, "first")
    async let second: Void = fill(path, "second")
    _ = await (first, second)
    let store = try DiskStore(at: path)
    for name in ["first", "second"] {
      for number in 0..<40 {
        let key = KeyComponents.sample(name, "\(number)").key
        #expect(try store.checkpoint(for: key)?.outputs[.sound]?.artifact != nil)
      }
    }
    #expect(damagedArtifacts(inStore: path) == [])
  }

  private func fill(_ path: String, _ name: String) async {
    await #expect(processExitsWith: .success) { [path = path as String, name = name as String] in
      let store = try DiskStore(at: path)
      for number in 0..<40 {
        // Both make the same artifacts.
        let artifact = try store.makeArtifact("shared \(number)")
        try store.commit(
          Checkpoint(
            components: .sample(name, "\(number)"), outputs: [.sound: StepOutput(artifact)]))
      }
    }
  }
}
