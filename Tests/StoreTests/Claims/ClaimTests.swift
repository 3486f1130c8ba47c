import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import Synchronization
import TestSupport
import Testing

@Suite struct ClaimTests {
  private let scratch: ScratchFolder
  private let path: String
  private let store: DiskStore
  private let work = SHA256.digest(of: "work")

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("store")
    store = try DiskStore(at: path)
  }

  @Test("lays work out by its digest, for its owner only, with a lock")
  func layout() throws {
    let claim = try store.granted(work)
    let name = try #require(names(in: path + "/work").first)
    #expect(claim.folder == "\(store.layout.work)/\(name)")
    #expect(name.hasPrefix("\(work.hex.prefix(32)).") && StoreLayout.isWorkName(name))
    let draft = try claim.makeDraft("sound", .sound)
    #expect(draft.path == claim.folder + "/sound")
    #expect(names(in: claim.folder) == ["lock", "sound"])
    let mode = try FileManager.default.attributesOfItem(atPath: claim.folder)[.posixPermissions]
    #expect(mode as? Int == 0o700)
    #expect(throws: SpoolError.self) { try claim.makeDraft("lock", .sound).path }
  }

  @Test("who asks for work of this very process is told so")
  func own() throws {
    let claim = try store.granted(work)
    let other = try DiskStore(at: path)
    guard case .taken(let owner) = try other.claim(work, summary: "") else {
      Issue.record("granted twice")
      return
    }
    #expect(owner == WorkOwner(processNumber: Int(getpid()), isStopped: false))
    _ = claim
  }

  @Test("a claim is kept by its drafts, and let go of with the last of them")
  func keptByDrafts() throws {
    func draft() throws -> ArtifactDraft { try store.granted(work).makeDraft("a", .sound) }
    do {
      let draft = try draft()
      #expect(throws: (any Error).self) { try store.granted(work) }
      try draft.append([1])
    }
    _ = try store.granted(work)
  }

  @Test("of two that ask at once exactly one is granted the work", arguments: [true, false])
  func race(isEnded: Bool) throws {
    let stores = [store, try DiskStore(at: path)]
    for round in 0..<100 {
      let answers = Mutex<[ClaimAnswer]>([])
      let start = DispatchSemaphore(value: 0)
      let finished = DispatchGroup()
      for store in stores {
        finished.enter()
        Thread.detachNewThread { [work] in
          start.wait()
          if let answer = try? store.claim(work, summary: "race") {
            answers.withLock { $0.append(answer) }
          }
          finished.leave()
        }
      }
      for _ in stores { start.signal() }
      finished.wait()
      let claims = answers.withLock { $0.compactMap(\.claim) }
      #expect(answers.withLock { $0.count } == 2 && claims.count == 1, "round \(round)")
      for claim in claims { if isEnded { claim.end() } else { claim.release() } }
    }
    #expect(names(in: path + "/work").count == (isEnded ? 0 : 1))
  }

  @Test("many threads that claim and end the same work never meet in it")
  func exclusion() throws {
    let inside = Mutex<Set<Int>>([])
    let meetings = Mutex(0)
    let failures = Mutex<[String]>([])
    let path = path
    let work = work
    let finished = DispatchGroup()
    for number in 0..<4 {
      finished.enter()
      Thread.detachNewThread {
        do {
          let store = try DiskStore(at: path)
          var grantCount = 0
          while grantCount < 15 {
            guard let claim = try store.claim(work, summary: "").claim else {
              usleep(500)
              continue
            }
            grantCount += 1
            let others = inside.withLock { inside in
              defer { inside.insert(number) }
              return inside.count
            }
            if others > 0 { meetings.withLock { $0 += 1 } }
            try claim.record("\(number)")
            if try claim.lastEntry()?.text != "\(number)" { meetings.withLock { $0 += 1 } }
            inside.withLock { _ = $0.remove(number) }
            if grantCount % 2 == 0 { claim.end() } else { claim.release() }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
        finished.leave()
      }
    }
    finished.wait()
    #expect(failures.withLock { $0 } == [])
    #expect(meetings.withLock { $0 } == 0)
  }

  @Test("a lock whose file is removed before it is taken counts for nothing")
  func removedLock() throws {
    let removals = Mutex(0)
    let files = FileOperations { (operation) throws(SystemError) in
      guard case .lock(let path) = operation, removals.withLock({ $0 }) == 0 else { return }
      if unsafe unlink(path) == 0 { removals.withLock { $0 += 1 } }
    }
    let claim = try DiskStore(at: path, files: files).granted(work)
    #expect(removals.withLock { $0 } == 1)
    #expect(names(in: claim.folder) == ["lock"])
    #expect(throws: (any Error).self) { try store.granted(work) }
  }

  @Test("where a file has one name only, the artifact has it")
  func withoutLinks() throws {
    for code in [EPERM, EOPNOTSUPP] {
      let store = try DiskStore(at: path, files: .lacking(["link": code]))
      let claim = try store.granted(work)
      let draft = try claim.makeDraft("sound", .sound)
      try draft.append(Array("sound \(code)".utf8))
      let artifact = try draft.seal()
      #expect(text(at: try store.path(of: artifact)) == "sound \(code)")
      #expect(names(in: claim.folder) == ["lock"])
      #expect(
        try claim.resumeDraft("sound", .sound, DraftPrefix(byteCount: artifact.byteCount))?.path
          == nil)
      claim.end()
    }
  }

  @Test("a sealed draft takes a damaged artifact's place")
  func damaged() throws {
    let artifact = try store.makeArtifact("a whole file")
    let place = try store.path(of: artifact)
    #expect(unsafe chmod(place, 0o600) == 0 && truncate(place, 3) == 0)
    let draft = try store.granted(work).makeDraft("file", .file)
    try draft.append(Array("a whole file".utf8))
    #expect(try draft.seal() == artifact)
    #expect(text(at: place) == "a whole file")
  }

  @Test("a draft whose name was given to another file meanwhile is not sealed")
  func renamedDraft() throws {
    let claim = try store.granted(work)
    let first = try claim.makeDraft("file", .file)
    try first.append(Array("first".utf8))
    let second = try claim.makeDraft("file", .file)
    try second.append(Array("other".utf8))
    do throws(SpoolError) {
      _ = try first.seal()
      Issue.record("it was sealed")
    } catch {
      #expect(error.reason == "another file was put in its place")
    }
    #expect(try second.seal().digest == SHA256.digest(of: "other"))
    #expect(damagedArtifacts(inStore: path) == [])
  }

  @Test("a file system without locks is refused, and says so")
  func withoutLocks() throws {
    let store = try DiskStore(at: path, files: .lacking(["lock": ENOLCK]))
    let error = #expect(throws: SpoolError.self) { try store.claim(work, summary: "") }
    #expect(error?.reason == "No locks available")
    #expect(error?.action == "claim the work in")
  }
}

extension ClaimAnswer {
  /// The claim, where it was granted.
  var claim: (any WorkClaim)? { if case .granted(let claim) = self { claim } else { nil } }
}
