import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// What becomes of work whose process dies, or freezes and wakes. Each owner is a real process.
@Suite struct FrozenOwnerTests {
  private let scratch: ScratchFolder
  private let path: String
  private var ready: String { scratch.file("ready") }
  private var woken: String { scratch.file("woken") }
  private var ended: String { scratch.file("ended") }
  private static let work = SHA256.digest(of: "work")
  private static let late = Checkpoint(components: .sample("late", "1"), outputs: [:])

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("store")
  }

  @Test("a killed process's work is the next one's at once, with its files and its notes")
  func killed() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let claim = try DiskStore(at: path).granted(Self.work)
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append(Array("noted, lost".utf8))
      try draft.flush()
      try claim.record("5")
      kill(getpid(), SIGKILL)
      _ = consume draft
    }
    let store = try DiskStore(at: path)
    let claim = try store.granted(Self.work)
    #expect(try claim.lastEntry()?.text == "5")
    #expect(try #require(claim.lostSeconds) < 60)
    let draft = try found(try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: 5)))
    try draft.append(Array(" again".utf8))
    #expect(text(at: try store.path(of: try draft.seal())) == "noted again")
    #expect(names(in: path + "/work").count == 1)
  }

  @Test("a process killed between sealing and noting it has not lost the draft")
  func killedAfterSealing() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let claim = try DiskStore(at: path).granted(Self.work)
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append(Array("whole".utf8))
      try draft.flush()
      try claim.record("5")
      _ = try draft.seal()
      kill(getpid(), SIGKILL)
    }
    let store = try DiskStore(at: path)
    let claim = try store.granted(Self.work)
    let artifact = try found(try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: 5)))
      .seal()
    #expect(text(at: try store.path(of: artifact)) == "whole")
  }

  @Test("what was damaged between its sealing and the next process is made anew")
  func damagedAfterSealing() async throws {
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let claim = try DiskStore(at: path).granted(Self.work)
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append(Array("whole".utf8))
      try draft.flush()
      try claim.record("5")
      _ = try draft.seal()
      kill(getpid(), SIGKILL)
    }
    let store = try DiskStore(at: path)
    let artifact = Artifact(kind: .sound, digest: SHA256.digest(of: "whole"), byteCount: 5)
    let file = store.layout.artifact(artifact.digest)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    let handle = try #require(FileHandle(forUpdatingAtPath: file))
    try handle.write(contentsOf: Data("W".utf8))
    try handle.close()
    try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file)

    let claim = try store.granted(Self.work)
    #expect(try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: 5)) == nil)
    let draft = try claim.makeDraft("sound", .sound)
    try draft.append(Array("whole".utf8))
    #expect(try draft.seal() == artifact)
    #expect(text(at: try store.path(of: artifact)) == "whole")
  }

  @Test("a stopped process keeps its work for a while, then loses it, and finds out when it wakes")
  func frozen() async throws {
    let meanwhile = Meanwhile {
      defer { #expect(FileManager.default.createFile(atPath: woken, contents: nil)) }
      let number = try #require(numberOfStoppedOwner(), "the owner has not stopped")
      defer { kill(number, SIGCONT) }
      let claim = try takeOver(from: number)
      #expect(FileManager.default.createFile(atPath: woken, contents: nil))
      #expect(kill(number, SIGCONT) == 0)
      #expect(eventually { text(at: ended) != nil })

      #expect(try claim.lastEntry()?.text == "mine", "the other one's note counted")
      let store = try DiskStore(at: path)
      #expect(try store.checkpoint(for: Self.late.key) == nil, "its commit counted")
      #expect(names(in: path + "/work").count == 1, "its folder is still there")
      #expect(names(in: claim.folder) == ["lock", "sound"])
      #expect(text(at: claim.folder + "/sound") == "anew")
    }
    await freeze()
    try meanwhile.end()
  }

  /// Runs a process that claims the work, stops, and when it is woken tries to go on.
  private func freeze() async {
    await #expect(processExitsWith: .success) {
      [
        path = path as String, ready = ready as String, woken = woken as String,
        ended = ended as String,
      ] in
      defer { #expect(FileManager.default.createFile(atPath: ended, contents: nil)) }
      let store = try DiskStore(at: path)
      let claim = try store.granted(Self.work)
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append(Array("old".utf8))
      try draft.flush()
      try claim.record("3")
      try put("\(getpid())", at: ready)
      kill(getpid(), SIGSTOP)
      // Another thread may take the signal, and this one go on for a moment.
      awaitFile(woken)

      // Its own file is still its own, and harms nobody.
      try draft.append(Array("er".utf8))
      let error = #expect(throws: SpoolError.self) { try claim.record("5") }
      #expect(error?.why.hasPrefix("another Spool has taken this work over") == true)
      #expect(throws: SpoolError.self) { try claim.commit(Self.late) }
      #expect(throws: SpoolError.self) { try claim.lastEntry() }
      #expect(try draft.seal().digest == SHA256.digest(of: "older"))
      claim.end()
    }
  }

  /// The number of the process that `freeze` runs, once it has stopped; nil if it never does.
  private func numberOfStoppedOwner() -> pid_t? {
    var number: pid_t?
    _ = eventually {
      number = text(at: ready).flatMap { pid_t($0) }
      return number.flatMap { text(at: "/proc/\($0)/stat") }?.contains(") T ") == true
    }
    return number
  }

  private func takeOver(from number: pid_t) throws -> any WorkClaim {
    let patient = try DiskStore(at: path, files: .system, grace: 3600)
    guard case .taken(let owner) = try patient.claim(Self.work, summary: "") else {
      throw SpoolError("claim", path, reason: "taken from one that stopped just now")
    }
    #expect(owner == WorkOwner(processNumber: Int(number), isStopped: true))

    let store = try DiskStore(at: path, files: .system, grace: 0.1)
    usleep(150_000)
    let claim = try store.granted(Self.work)
    #expect(try claim.lastEntry() == nil)
    #expect(try #require(claim.lostSeconds) < 60)
    #expect(
      claim.loss
        == .takenOver(from: WorkOwner(processNumber: Int(number), isStopped: true)))
    #expect(names(in: claim.folder) == ["lock"])
    #expect(names(in: path + "/work").count == 2)
    #expect(throws: (any Error).self) { try store.granted(Self.work) }
    let draft = try claim.makeDraft("sound", .sound)
    try draft.append(Array("anew".utf8))
    try draft.flush()
    try claim.record("mine")
    return claim
  }

  @Test("processes that claim the same work again and again never meet in it")
  func exclusion() async throws {
    _ = try DiskStore(at: path)
    async let first: Void = claimOften()
    async let second: Void = claimOften()
    _ = await (first, second)
    _ = try DiskStore(at: path)
    #expect(names(in: path + "/work").count <= 1)
  }

  private func claimOften() async {
    await #expect(processExitsWith: .success) {
      [path = path as String, witness = scratch.file("inside") as String] in
      let store = try DiskStore(at: path)
      var grantCount = 0
      while grantCount < 40 {
        guard let claim = try store.claim(Self.work, summary: "").claim else {
          usleep(200)
          continue
        }
        grantCount += 1
        let descriptor = unsafe open(witness, O_CREAT | O_EXCL | O_RDWR, 0o600)
        #expect(descriptor >= 0, "another process is inside")
        close(descriptor)
        try claim.record("\(getpid())")
        #expect(try claim.lastEntry()?.text == "\(getpid())")
        #expect(unsafe unlink(witness) == 0)
        if grantCount % 2 == 0 { claim.end() } else { claim.release() }
      }
    }
  }
}
