import Foundation
import PipelineModel
import Platform
@testable import Store
import Synchronization
import TestSupport
import Testing

/// A store whose clock a test sets.
private final class Timepiece: Sendable {
  private let nanoseconds = Mutex<Int64>(0)
  private let steady = Mutex<Int64>(0)

  /// - Parameter steady: what a clock says that nobody sets; nil for the same.
  func set(_ seconds: Double, steady other: Double? = nil) {
    nanoseconds.withLock { $0 = Int64(seconds * 1e9) }
    steady.withLock { $0 = Int64((other ?? seconds) * 1e9) }
  }

  func store(at path: String) throws(SpoolError) -> DiskStore {
    try DiskStore(
      at: path, files: .system, clock: { self.nanoseconds.withLock { $0 } },
      steadyClock: { self.steady.withLock { $0 } })
  }
}

@Suite struct WorkLossTests {
  private let scratch: ScratchFolder
  private let path: String
  private let time = Timepiece()
  private let work = SHA256.digest(of: "work")

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("store")
  }

  /// When things happened, in seconds, and what was lost by them.
  struct Case: Sendable, CustomTestStringConvertible {
    let words: String
    let claimed: Double
    let noted: Double?
    let written: Double?
    let claimedAgain: Double
    /// The same by a clock that nobody sets.
    var steadyAgain: Double?
    let lost: Double
    var testDescription: String { words }
  }

  @Test(
    "what a dead process lost is told from its last note and its last sign",
    arguments: [
      Case(
        words: "since the note", claimed: 100, noted: 110, written: 111.5, claimedAgain: 5000,
        lost: 1.5),
      Case(
        words: "since the claim", claimed: 100, noted: nil, written: 104, claimedAgain: 5000,
        lost: 4),
      Case(
        words: "nothing written since the note", claimed: 100, noted: 110, written: 109,
        claimedAgain: 5000, lost: 0),
      Case(
        words: "nothing written at all", claimed: 100, noted: nil, written: nil,
        claimedAgain: 5000, lost: 0),
      Case(
        words: "a file from the future", claimed: 100, noted: 110, written: 999_999,
        claimedAgain: 112, lost: 2),
      Case(
        words: "a clock that was set back after the death", claimed: 100, noted: 110, written: 111,
        claimedAgain: 5, steadyAgain: 113, lost: 1),
      Case(
        words: "a clock that was set back after the note", claimed: 100, noted: 110, written: 4,
        claimedAgain: 5, steadyAgain: 113, lost: 2),
      Case(
        words: "a clock that was set forward after the note", claimed: 100, noted: 110,
        written: 900_000, claimedAgain: 900_001, steadyAgain: 113, lost: 2),
      Case(
        words: "a clock that was set forward after the death", claimed: 100, noted: 110,
        written: 111, claimedAgain: 900_001, steadyAgain: 113, lost: 1),
      Case(
        words: "another time namespace, whose clock is ahead", claimed: 100, noted: 110,
        written: 109.9, claimedAgain: 112, steadyAgain: 50_112, lost: 0),
      Case(
        words: "another time namespace, whose clock is ahead, and work since the note",
        claimed: 100, noted: 110, written: 111, claimedAgain: 112, steadyAgain: 50_112, lost: 1),
      Case(
        words: "another time namespace, whose clock is behind", claimed: 100, noted: 110,
        written: 111, claimedAgain: 112, steadyAgain: -49_888, lost: 1),
      Case(
        words: "clocks that both say that the note lies ahead", claimed: 100, noted: 110,
        written: 111, claimedAgain: 50, steadyAgain: 50, lost: 1),
    ])
  func lost(_ moment: Case) throws {
    // Round figures far from 0: times before 1970 are not everywhere.
    let start = 1_700_000_000.0
    let store = try time.store(at: path)
    time.set(start + moment.claimed)
    do {
      let claim = try store.granted(work)
      #expect(claim.lostSeconds == nil)
      if let written = moment.written {
        let draft = try claim.makeDraft("sound", .sound)
        let file = draft.path
        _ = consume draft
        try FileManager.default.setAttributes(
          [.modificationDate: Date(timeIntervalSince1970: start + written)], ofItemAtPath: file)
      }
      if let noted = moment.noted {
        time.set(start + noted)
        try claim.record("{}")
      }
    }
    time.set(
      start + moment.claimedAgain, steady: start + (moment.steadyAgain ?? moment.claimedAgain))
    let lost = try #require(try store.granted(work).lostSeconds)
    #expect(abs(lost - moment.lost) < 0.001, "\(lost)")
  }

  @Test("of a process before the last boot, no more than a day is taken for lost")
  func otherBoot() {
    let entry = WorkEntry(
      work: work, generation: 1, epoch: 1, owner: ProcessIdentity("00000000-1-1"), claimedAt: 100,
      recording: JournalEntry(text: "{}", notedAt: 110), touchedSinceBoot: 9000)
    #expect(entry.lostSeconds(lastWrite: 112, now: 500, sinceBoot: 20) == 2)
    #expect(entry.lostSeconds(lastWrite: 900_000, now: 900_001, sinceBoot: 20) == 86_400)
    #expect(entry.lostSeconds(lastWrite: nil, now: 500, sinceBoot: 20) == 0)
  }

  @Test("what was lost is counted once, and not again from the note of a process before it")
  func lostTwice() throws {
    let start = 1_700_000_000.0
    let store = try time.store(at: path)
    time.set(start)
    do { try store.granted(work).record("{}") }
    time.set(start + 1000)
    do { _ = try store.granted(work).makeDraft("sound", .sound).path }
    let folder = try #require(names(in: path + "/work").first)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: start + 1003)],
      ofItemAtPath: "\(store.layout.work)/\(folder)/sound")
    time.set(start + 2000)
    let claim = try store.granted(work)
    #expect(abs(try #require(claim.lostSeconds) - 3) < 0.001)
    #expect(try claim.lastEntry() == JournalEntry(text: "{}", notedAt: start))
  }

  @Test("what owners had put into a note counts up, and is lost with the note")
  func spent() throws {
    let start = 1_700_000_000.0
    let store = try time.store(at: path)
    time.set(start)
    do {
      let claim = try store.granted(work)
      #expect(claim.spentSeconds == 0)
      time.set(start + 5)
      try claim.record("{}")
    }
    time.set(start + 1000)
    do {
      let claim = try store.granted(work)
      #expect(abs(claim.spentSeconds - 5) < 0.001)
      time.set(start + 1003)
      try claim.record("{ }")
    }
    time.set(start + 2000)
    do {
      let claim = try store.granted(work)
      #expect(abs(claim.spentSeconds - 8) < 0.001)
      #expect(claim.loss == nil && claim.lostSeconds == 0)
    }
    _ = try store.withDatabase { (database) throws(SpoolError) in
      try database.run("UPDATE work SET note = replace(note, '{', '[')", to: "damage a note in")
    }
    time.set(start + 3000)
    do {
      let claim = try store.granted(work)
      #expect(claim.loss == .damagedNote)
      #expect(abs(try #require(claim.lostSeconds) - 8) < 0.001)
      #expect(claim.spentSeconds == 0)
      #expect(try claim.lastEntry() == nil)
      time.set(start + 3001)
      try claim.record("{}")
    }
    #expect(abs(try store.granted(work).spentSeconds - 1) < 0.001)
  }

  @Test("taking over from a stopped process loses all that was noted, and what came after")
  func takenOver() {
    var past = ClaimHistory()
    let entry = WorkEntry(
      work: work, generation: 1, epoch: 1, owner: nil, claimedAt: 100,
      recording: JournalEntry(text: "{}", notedAt: 110), touchedSinceBoot: nil, spentSeconds: 30)
    past.takenOver(from: entry, lost: 2)
    #expect(past.lostSeconds == 42 && past.spentSeconds == 0)
    #expect(past.loss == .takenOver(from: WorkOwner(processNumber: 0, isStopped: false)))
    past.left(by: entry, lost: nil)
    #expect(past.lostSeconds == 42, "nobody was at it since")
    past.left(by: entry, lost: 1)
    #expect(past.lostSeconds == 1 && past.spentSeconds == 40 && past.loss == nil)
  }

  @Test("work that nobody has touched for a month is removed when a store is opened")
  func old() throws {
    time.set(1_700_000_000)
    let other = SHA256.digest(of: "held")
    let store = try time.store(at: path)
    do {
      let claim = try store.granted(work)
      _ = try claim.makeDraft("sound", .sound).path
      try claim.record("{}")
    }
    let held = try store.granted(other)
    time.set(1_700_000_000 + 29 * 86_400)
    _ = try time.store(at: path)
    #expect(names(in: path + "/work").count == 2)
    time.set(1_700_000_000 + 31 * 86_400)
    _ = try time.store(at: path)
    #expect(names(in: path + "/work") == [FilePath.name(of: held.folder)])
    try held.record("still at it")
    #expect(try store.granted(work).lastEntry() == nil)
  }

  @Test("a folder whose work nobody knows is removed, unless somebody holds it or it is no work's")
  func unknown() throws {
    let store = try DiskStore(at: path)
    func folder(_ name: String) throws -> String {
      let folder = "\(store.layout.work)/\(name)"
      try FileManager.default.createDirectory(
        atPath: folder + "/below", withIntermediateDirectories: true)
      try put("x", at: folder + "/below/file")
      return folder
    }
    let digits = String(repeating: "ab", count: 16)
    _ = try folder(digits + ".1")
    let held = WorkFolder(path: try folder(digits + ".2"), files: .system)
    guard case .taken(let lock) = try held.lock() else {
      Issue.record("the lock is held")
      return
    }
    _ = try folder("mine")
    let claim = try store.granted(work)
    _ = try DiskStore(at: path)
    #expect(
      names(in: path + "/work")
        == [FilePath.name(of: claim.folder), digits + ".2", "mine"].sorted())
    lock.release()
    _ = try DiskStore(at: path)
    #expect(names(in: path + "/work") == [FilePath.name(of: claim.folder), "mine"].sorted())
  }
}

extension FilePath {
  /// The last name in a path.
  fileprivate static func name(of path: String) -> String {
    String(path.dropFirst(folder(of: path).count + 1))
  }
}
