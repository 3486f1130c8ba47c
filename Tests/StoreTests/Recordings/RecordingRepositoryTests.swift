import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite("The ledger of notes")
struct NoteLedgerTests {
  private let scratch: ScratchFolder
  private let time = SettableTime(1_800_000_000_000_000_000)
  private let store: DiskStore

  init() throws {
    scratch = try ScratchFolder()
    let time = time
    store = try DiskStore(
      at: scratch.file("store"), files: .system, clock: { time.value })
  }

  private func arrival(
    _ text: String, path: String = "a.m4a", inode: UInt64 = 1, deviceID: String? = nil
  ) throws -> RecordingArrival {
    let artifact = try store.makeArtifact(text, kind: .sound)
    var arrival = RecordingArrival(
      pipeline: "voice", inbox: "/inbox", path: path,
      stamp: RecordingFileStamp(inode: inode, byteCount: 5, modified: 7, changed: 8),
      fileName: path,
      recording: artifact)
    arrival.deviceID = deviceID
    return arrival
  }

  private func admit(_ text: String, path: String = "a.m4a", inode: UInt64 = 1) throws -> Recording
  {
    try store.recordings.admit(
      try arrival(text, path: path, inode: inode), conflicts: .quarantine
    ).recording
  }

  private func change(_ key: RecordingKey, _ change: RecordingChange) throws -> Recording {
    try #require(try store.recordings.change(key, change)?.recording)
  }

  @Test("an arrival whose bytes are not in the store is not recorded")
  func withoutBytes() throws {
    let digest = SHA256.digest(of: "nowhere")
    let arrival = RecordingArrival(
      pipeline: "voice", inbox: "/inbox", path: "a",
      stamp: RecordingFileStamp(inode: 1, byteCount: 1, modified: 1, changed: 1), fileName: "a",
      recording: Artifact(kind: .sound, digest: digest, byteCount: 7))
    #expect(throws: SpoolError.self) { try store.recordings.admit(arrival, conflicts: .quarantine) }
    #expect(try store.recordings.tally().counts == [:])
  }

  private func comeElsewhere(_ text: String, inode: UInt64) throws -> RecordingAdmission {
    var arrival = try arrival(text, inode: inode)
    arrival = RecordingArrival(
      pipeline: arrival.pipeline, inbox: "/moved", path: arrival.path, stamp: arrival.stamp,
      fileName: arrival.fileName, recording: arrival.recording)
    return try store.recordings.admit(arrival, conflicts: .quarantine)
  }

  @Test("one that waits and comes by another inbox is processed there, unless its own is watched")
  func otherInbox() throws {
    let key = try admit("sound").key
    let summary = InboxReport.claimSummary(ofInbox: "/inbox")
    guard case .granted(let claim) = try store.claim(SHA256.digest(of: "watch"), summary: summary)
    else { throw CocoaError(.featureUnsupported) }
    #expect(try comeElsewhere("sound", inode: 8).recording.inbox == "/inbox")
    claim.end()
    #expect(try comeElsewhere("sound", inode: 9).recording.inbox == "/moved")
    #expect(try store.recordings.recording(key)?.inbox == "/moved")
  }

  @Test("the run of an inbox's recording is known as such, also after the store was moved")
  func runOfInbox() throws {
    let recording = try admit("sound")
    let (folder, work) = ("work", String(repeating: "a", count: 32) + ".7")
    func run(_ path: String) -> RunRecord {
      var run = RunRecord(
        id: RunID("r"), pipeline: "voice", pipelinePath: "/p", inputs: ["note": path],
        overrides: [:], startedAt: 1)
      run.recordings = ["note": recording.content.digest]
      return run
    }
    for root in [store.path, "/elsewhere/store"] {
      #expect(
        try store.inboxRecording(of: run("\(root)/\(folder)/\(work)/a.m4a"))?.key == recording.key)
    }
    #expect(!store.isOfInbox(run("/elsewhere/\(folder)/a.m4a")) && !store.isOfInbox(run("/a.m4a")))
  }

  @Test("a moved inbox keeps its recordings and files, and the old place is forgotten")
  func movedInbox() throws {
    let arrival = try arrival("sound")
    let key = try store.recordings.admit(arrival, conflicts: .quarantine).recording.key
    try store.inboxes.remember(watch: "spool watch p /inbox", ofInbox: "/inbox")
    try store.inboxes.remember(mountPoint: "/", ofFolder: "/inbox")
    try store.inboxes.move("/inbox", to: "/moved")
    #expect(try store.recordings.recording(key)?.inbox == "/moved")
    #expect(
      try store.recordings.isKnown(path: "a.m4a", stamp: arrival.stamp, inbox: "/moved"))
    #expect(try store.inboxes.lastWatches().isEmpty)
    #expect(try store.inboxes.mountPoint(ofFolder: "/inbox") == nil)
    #expect(try !store.inboxes.forget("/inbox"))
  }

  @Test("an inbox that a process watches is not forgotten")
  func forgottenInbox() throws {
    let summary = InboxReport.claimSummary(ofInbox: "/inbox")
    guard case .granted(let claim) = try store.claim(SHA256.digest(of: "watch"), summary: summary)
    else { throw CocoaError(.featureUnsupported) }
    try store.inboxes.remember(watch: "spool watch p /inbox", ofInbox: "/inbox")
    #expect(throws: SpoolError.self) { try store.inboxes.forget("/inbox") }
    claim.end()
    #expect(try store.inboxes.forget("/inbox"))
    #expect(try store.inboxes.lastWatches().isEmpty)
  }

  @Test("every change is durable with its time and reason, and read back as it was made")
  func history() throws {
    var arrival = try arrival("sound", deviceID: "device-1")
    arrival.title = "Lunch"
    arrival.tags = ["a", "ü"]
    arrival.facts = #"{"x":1}"#
    let recording = try store.recordings.admit(arrival, conflicts: .quarantine).recording
    time.value += 1_000_000_000
    _ = try change(recording.key, .begin)
    time.value += 1_000_000_000
    _ = try change(
      recording.key, .fail(reason: "busy", nextAttempt: 1_800_000_010, isCounted: true))
    let last = try change(recording.key, .rename("Dinner"))
    let reopened = try DiskStore(at: scratch.file("store"))
    #expect(try reopened.recordings.recording(recording.key) == last)
    #expect(last.tags == ["a", "ü"] && last.facts == #"{"x":1}"# && last.attempts == 1)
    let events = try reopened.recordings.events(of: recording.key)
    #expect(events.map(\.state) == [.received, .processing, .failed, .failed])
    #expect(events.map(\.reason) == [nil, nil, "busy", "renamed"])
    #expect(events.map(\.at) == [1_800_000_000, 1_800_000_001, 1_800_000_002, 1_800_000_002])
  }

  @Test("a change that the rules forbid changes nothing")
  func refused() throws {
    let recording = try admit("sound")
    let version = try store.recordings.version()
    guard
      case .refused(let refusal) = try store.recordings.change(recording.key, .finish(reason: nil))
    else {
      Issue.record("it was not refused")
      return
    }
    #expect(refusal.reason.contains("decoded"))
    #expect(
      try store.recordings.recording(recording.key) == recording
        && store.recordings.version() == version)
    #expect(try store.recordings.change(RecordingKey("none"), .begin) == nil)
  }

  @Test("one of two who begin a note at once has it")
  func race() async throws {
    let recording = try admit("sound")
    let path = scratch.file("store")
    let winners = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          try DiskStore(at: path).recordings.change(recording.key, .begin)?.recording == nil ? 0 : 1
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(winners == 1)
    #expect(try store.recordings.recording(recording.key)?.attempts == 1)
  }

  @Test("two that admit one file at once have one note")
  func admissionRace() async throws {
    let arrival = try arrival("sound")
    let path = scratch.file("store")
    let kinds = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          if case .new = try DiskStore(at: path).recordings.admit(arrival, conflicts: .quarantine) {
            return true
          }
          return false
        }
      }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(kinds == 1)
    let recording = try #require(try store.recordings.matching(RecordingQuery()).first)
    #expect(try store.recordings.files(of: recording.key).count == 1)
  }

  @Test("the notes of a process that died are put back, those of a living one are not")
  func recovery() async throws {
    let recording = try admit("sound")
    let own = try admit("other", path: "b.m4a", inode: 2)
    _ = try change(own.key, .begin)
    let path = scratch.file("store")
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, name = recording.key.name as String] in
      _ = try DiskStore(at: path).recordings.change(RecordingKey(name), .begin)
      kill(getpid(), SIGKILL)
    }
    #expect(try store.recordings.recording(recording.key)?.state == .processing)
    #expect(try store.recordings.recover(pipeline: "voice").map(\.key) == [recording.key])
    #expect(try store.recordings.recording(recording.key)?.state == .received)
    #expect(try store.recordings.recording(recording.key)?.attempts == 0)
    #expect(try store.recordings.recording(own.key)?.state == .processing)
  }

  @Test("a note is found by its key, the beginning of it or its device's identity")
  func names() throws {
    let first = try store.recordings.admit(
      try arrival("sound", deviceID: "device-1"), conflicts: .quarantine
    ).recording
    for number in 0..<40 { _ = try admit("\(number)", path: "\(number)", inode: 9) }
    #expect(try store.recordings.recording(named: first.key.name)?.key == first.key)
    #expect(try store.recordings.recording(named: "device-1")?.key == first.key)
    #expect(
      try store.recordings.recording(named: String(first.key.name.prefix(8)))?.key == first.key)
    #expect(try store.recordings.recording(named: "zzz") == nil)
    #expect(try store.recordings.recording(named: "") == nil)
    // 41 notes and 16 digits: some digit begins several.
    let digits = try store.recordings.matching(RecordingQuery()).map {
      String($0.key.name.prefix(1))
    }
    let digit = try #require(digits.first { digit in digits.count { $0 == digit } > 1 })
    let error = try #require(throws: SpoolError.self) {
      try store.recordings.recording(named: digit)
    }
    #expect(error.advice == "type more of the name")
  }

  @Test("lists, counts and what is due")
  func queries() throws {
    let recordings = try (0..<5).map { number in
      time.value += 1_000_000_000
      return try admit("\(number)", path: "\(number)", inode: UInt64(number))
    }
    _ = try change(recordings[1].key, .begin)
    _ = try change(recordings[2].key, .begin)
    _ = try change(
      recordings[2].key, .fail(reason: "x", nextAttempt: 1_800_000_060, isCounted: true))
    _ = try change(recordings[3].key, .quarantine(reason: "bad"))
    let tally = try store.recordings.tally(pipeline: "voice")
    #expect(tally[.received] == 2 && tally[.processing] == 1 && tally[.failed] == 1)
    #expect(tally.counts[.received]?.since == 1_800_000_001)
    #expect(tally.nextAttempt == 1_800_000_060 && tally.heldFiles == 1)
    #expect(tally.nextCommands.first?.contains("quarantined") == true)
    #expect(try store.recordings.tally(pipeline: "other") == RecordingTally())
    #expect(
      try store.recordings.matching(RecordingQuery(states: [.failed, .quarantined])).count == 2)
    #expect(try store.recordings.matching(RecordingQuery(limit: 3)).count == 3)
    func due(_ time: Double, limit: Int = 9) throws -> [RecordingKey] {
      try store.recordings.due(pipeline: "voice", at: time, limit: limit).map(\.key)
    }
    #expect(try due(1_800_000_059) == [recordings[0].key, recordings[4].key])
    #expect(try due(1_800_000_060) == [recordings[0].key, recordings[2].key, recordings[4].key])
    #expect(try due(1_800_000_060, limit: 1) == [recordings[0].key])
    #expect(try store.recordings.nextAttempt(pipeline: "voice") == 1_800_000_060)
  }

  @Test("forgotten, a recording is new again; one that is under way is not forgotten")
  func forgetting() throws {
    let recording = try admit("sound")
    _ = try change(recording.key, .begin)
    guard case .refused? = try store.recordings.forget(recording.key) else {
      Issue.record("it was forgotten")
      return
    }
    _ = try change(recording.key, .quarantine(reason: "bad"))
    #expect(try store.recordings.forget(recording.key)?.recording?.key == recording.key)
    #expect(
      try store.recordings.recording(recording.key) == nil
        && store.recordings.files(of: recording.key) == [])
    guard case .new = try store.recordings.admit(try arrival("sound"), conflicts: .quarantine)
    else {
      Issue.record("it is not new")
      return
    }
  }

  @Test("an original is never freed by age or size, only once its recording is forgotten")
  func collection() throws {
    let recording = try admit("sound")
    let path = try store.path(of: recording.content)
    func isKept() throws -> Bool {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: path)
      var policy = CollectionPolicy()
      policy.age = 0
      policy.limit = 0
      _ = try store.collect(policy)
      return FileManager.default.fileExists(atPath: path)
    }
    #expect(try isKept())
    #expect(
      try Inspection(of: scratch.file("store")).run().findings.allSatisfy {
        $0.kind != .unnamedArtifact
      })
    _ = try change(recording.key, .begin)
    _ = try store.recordings.accept(recording.key, sound: nil, conflicts: .quarantine)
    _ = try change(recording.key, .finish(reason: nil))
    #expect(try isKept())
    let file = try #require(try store.recordings.files(of: recording.key).first)
    try store.recordings.settle(file, .deleted, at: file.location, stamp: nil)
    #expect(try isKept(), "the store has the only copy")
    try store.recordings.settle(file, .accepted, at: "accepted/a.m4a", stamp: nil)
    #expect(try isKept(), "the user may delete the file that was given back")
    #expect(
      try Inspection(of: scratch.file("store")).run().findings.allSatisfy {
        $0.kind != .unnamedArtifact
      })
    _ = try store.recordings.forget(recording.key)
    #expect(try !isKept())
  }

  @Test(
    "every query goes by an index",
    arguments: [
      "WHERE digest = 'a' AND pipeline = 'b'",
      "WHERE device_id = 'a' AND pipeline = 'b' AND conflict IS NULL",
      "WHERE key >= 'a' AND key < 'ag' ORDER BY received_at DESC LIMIT 4",
      "WHERE state IN ('failed') ORDER BY changed_at DESC, key LIMIT 100",
      "WHERE pipeline = 'a' AND state = 'received' AND original IS NULL ORDER BY received_at LIMIT 9",
      "WHERE pipeline = 'a' AND next_attempt <= 5 ORDER BY next_attempt LIMIT 9",
      "WHERE pipeline = 'a' AND acknowledged < revision ORDER BY changed_at LIMIT 9",
      "WHERE original = 'a' AND state = 'received'",
      "ORDER BY changed_at DESC, key LIMIT 100",
    ])
  func plans(query: String) throws {
    let plan = try store.withDatabase { (database) throws(SpoolError) in
      try database.run("EXPLAIN QUERY PLAN SELECT * FROM notes \(query)", to: "test")
    }.compactMap { $0.last?.text }
    #expect(
      plan.allSatisfy { $0.contains("INDEX") || $0.contains("PRIMARY KEY") || $0.contains("TEMP") },
      "\(plan)")
  }
}
