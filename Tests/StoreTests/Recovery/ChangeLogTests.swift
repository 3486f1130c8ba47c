import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import Synchronization
import TestSupport
import Testing

@Suite("What the database has lost is noticed and given back")
struct ChangeLogTests {
  private let scratch: ScratchFolder
  private var path: String { scratch.file("store") }
  private var database: String { path + "/spool.sqlite" }

  init() throws { scratch = try ScratchFolder() }

  private static func checkpoint(_ number: Int) -> Checkpoint {
    Checkpoint(components: .sample("eq", "\(number)"), outputs: [:], memo: "{}")
  }

  private func run(_ name: String, _ state: RunRecord.State) -> RunRecord {
    var run = RunRecord(
      id: RunID(name), pipeline: "p", pipelinePath: "/p.yaml", inputs: ["note": "/note.wav"],
      overrides: [:], startedAt: 1_800_000_000)
    run.state = state
    return run
  }

  private func arrival(_ store: DiskStore, _ text: String = "sound") throws -> RecordingArrival {
    RecordingArrival(
      pipeline: "voice", inbox: "/inbox", path: "\(text).m4a",
      stamp: RecordingFileStamp(inode: 1, byteCount: 5, modified: 7, changed: 8),
      fileName: "\(text).m4a", recording: try store.makeArtifact(text, kind: .sound))
  }

  private func news(of store: DiskStore) -> [String] {
    let lines = Lines()
    store.listen { line in lines.all.withLock { $0.append(line) } }
    return lines.all.withLock { $0 }
  }

  private final class Lines: Sendable { let all = Mutex<[String]>([]) }

  /// A store as a power cut would leave it: copied while it is open, with its log.
  private func withOpenStore(_ work: (DiskStore) throws -> Void) throws {
    let original = scratch.file("original")
    let store = try DiskStore(at: original)
    // The tables themselves are older than what is cut off.
    try store.withDatabase { (database) throws(SpoolError) in
      _ = try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "test")
    }
    try work(store)
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: original, toPath: path)
    withExtendedLifetime(store) {}
  }

  @Test("a database that was cut short has lost nothing that the log has", arguments: [0, 25, 50])
  func cutLog(percent: Int) throws {
    var recording: Recording?
    try withOpenStore { store in
      for number in 0..<20 { try store.commit(Self.checkpoint(number)) }
      try store.runs.save(run("begun", .running))
      try store.runs.save(run("ended", .running))
      try store.runs.save(run("ended", .done))
      recording = try store.recordings.admit(try arrival(store), conflicts: .quarantine).recording
    }
    let log = database + "-wal"
    let length = Int(try FileStamp(at: log).byteCount)
    #expect(length > 10_000)
    #expect(unsafe truncate(log, off_t(length * percent / 100)) == 0)
    _ = unsafe unlink(database + "-shm")

    let report = try Inspection(of: path).run()
    #expect(!report.isSound, "check has to see it")

    let store = try DiskStore(at: path)
    for number in 0..<20 {
      let checkpoint = Self.checkpoint(number)
      #expect(try store.checkpoint(for: checkpoint.key) == checkpoint)
    }
    #expect(try store.runs.run(named: "ended")?.state == .done)
    let key = try #require(recording?.key)
    #expect(try store.recordings.recording(key) == recording)
    let lines = news(of: store) + [store.recovery?.line].compactMap { $0 }
    #expect(lines.count == 1, "\(lines)")
    #expect(try news(of: DiskStore(at: path)).isEmpty)
    #expect(try Inspection(of: path).run().isSound)
  }

  @Test("repair takes in what a log that was cut short has lost")
  func repair() throws {
    try withOpenStore { store in
      for number in 0..<20 { try store.commit(Self.checkpoint(number)) }
    }
    let log = database + "-wal"
    #expect(unsafe truncate(log, off_t(try FileStamp(at: log).byteCount * 3 / 4)) == 0)
    _ = unsafe unlink(database + "-shm")
    #expect(try Inspection(of: path).run().findings.first?.kind == .databaseBehind)
    let report = try Repair(of: path).run()
    #expect(report.actions.contains { $0.what.contains("has lost") })
    #expect(try Inspection(of: path).run().findings == [])
  }

  @Test("a run that was under way when the database was lost is cut off, and can be gone on with")
  func unfinishedRun() throws {
    do {
      let store = try DiskStore(at: path)
      try store.runs.save(run("begun", .running))
      try store.runs.save(run("ended", .done))
    }
    try FileManager.default.removeItem(atPath: path + "/backups")
    try FileManager.default.removeItem(atPath: database)
    let store = try DiskStore(at: path)
    #expect(store.recovery?.runs == 2)
    #expect(try store.runs.run(named: "begun")?.state == .cutOff)
    #expect(try store.runs.run(named: "begun")?.inputs == ["note": "/note.wav"])
    #expect(try Inspection(of: path).run().findings == [])
  }

  @Test("a run is in the log as it begins, and durable as the run ends")
  func order() throws {
    let probe = FileProbe()
    let store = try DiskStore(at: path, files: probe.files)
    try store.runs.save(run("begun", .running))
    let logged = store.logged { (log) throws(SpoolError) in try RunTable.run("begun", in: &log) }
    #expect(logged?.run.state == .running)
    #expect(PowerCut(after: probe.operations).mistakes == [])
    try store.runs.save(run("begun", .done))
    let cut = PowerCut(after: probe.operations)
    #expect(cut.mistakes == [])
    #expect(cut.spares(store.changeLog.path(1), under: path))
    #expect(cut.sparesBytes(of: store.changeLog.path(1)))
  }

  @Test("notes come back from the log, with files and history, and gc leaves their recordings")
  func recordings() throws {
    let (key, before, files, events): (RecordingKey, Recording?, [RecordingFile], [RecordingEvent])
    let forgotten: RecordingKey
    do {
      let store = try DiskStore(at: path)
      key = try store.recordings.admit(try arrival(store), conflicts: .quarantine).recording.key
      forgotten = try store.recordings.admit(try arrival(store, "other"), conflicts: .quarantine)
        .recording.key
      _ = try store.recordings.change(key, .fail(reason: "busy", nextAttempt: nil, isCounted: true))
      _ = try store.recordings.forget(forgotten)
      (before, files, events) = (
        try store.recordings.recording(key), try store.recordings.files(of: key),
        try store.recordings.events(of: key)
      )
    }
    #expect(before != nil && files.count == 1 && events.count >= 1)
    try FileManager.default.removeItem(atPath: database)
    let store = try DiskStore(at: path)
    #expect(store.recovery?.recordings == 1)
    #expect(try store.recordings.recording(key) == before)
    #expect(try store.recordings.recording(forgotten) == nil)
    #expect(try store.recordings.files(of: key) == files)
    #expect(try store.recordings.events(of: key) == events)
    var policy = CollectionPolicy()
    (policy.age, policy.grace) = (0, 0)
    _ = try store.collect(policy)
    let recording = try #require(before?.content)
    #expect(throws: Never.self) { try store.path(of: recording) }
  }

  @Test("a torn last line is no line, and makes room for the next")
  func torn() throws {
    let changeLog: String
    do {
      let store = try DiskStore(at: path)
      try store.commit(Self.checkpoint(1))
      changeLog = store.changeLog.path(1)
    }
    let file = try #require(FileHandle(forWritingAtPath: changeLog))
    try file.seekToEnd()
    try file.write(contentsOf: Data("0123456789abcdef 99 checkpoi".utf8))
    try file.close()
    let store = try DiskStore(at: path)
    #expect(news(of: store).isEmpty)
    try store.commit(Self.checkpoint(2))
    #expect(store.changeLog.isIntact(1))
    let logged = store.logged { (log) throws(SpoolError) in try CheckpointTable.keys(in: &log) }
    #expect(logged?.count == 2)
  }

  @Test("a log with a flipped bit is found by check, and written anew by repair")
  func damaged() throws {
    do {
      let store = try DiskStore(at: path)
      _ = try store.recordings.admit(try arrival(store), conflicts: .quarantine)
      try store.commit(Self.checkpoint(1))
    }
    try flipBit(2, ofByte: 120, in: path + "/changes-1")
    #expect(try Inspection(of: path).run().findings.map(\.kind) == [.damagedRecord])
    _ = try Repair(of: path).run()
    #expect(try Inspection(of: path).run().findings == [])
    try FileManager.default.removeItem(atPath: database)
    #expect(try DiskStore(at: path).recovery?.recordings == 1)
  }

  @Test("a backup from before the log was begun again is brought up to date by it")
  func olderBackup() throws {
    let key: RecordingKey
    do {
      let store = try DiskStore(at: path)
      try store.commit(Self.checkpoint(1))
      _ = try store.backUp()
      key = try store.recordings.admit(try arrival(store), conflicts: .quarantine).recording.key
      try store.commit(Self.checkpoint(2))
      try store.withDatabase { (database) throws(SpoolError) in
        try store.changeLog.renew(in: &database)
      }
      try store.commit(Self.checkpoint(3))
    }
    try FileManager.default.removeItem(atPath: database)
    try? FileManager.default.removeItem(atPath: database + "-wal")
    let store = try DiskStore(at: path)
    #expect(store.recovery?.slot == 1)
    #expect(try store.recordings.recording(key) != nil)
    for number in 1...3 {
      #expect(try store.checkpoint(for: Self.checkpoint(number).key) != nil)
    }
  }

  @Test("check names a note whose recording is gone")
  func missingRecording() throws {
    let store = try DiskStore(at: path)
    let recording = try store.recordings.admit(try arrival(store), conflicts: .quarantine).recording
    #expect(try Inspection(of: path).run().isSound)
    try FileManager.default.removeItem(atPath: store.path(of: recording.content))
    let findings = try Inspection(of: path).run().findings
    #expect(findings.map(\.kind) == [.missingRecording])
    #expect(findings.first?.problem.contains("sound.m4a") == true)
  }

  @Test("a note whose recording comes twice is in the log as it is then")
  func repeated() throws {
    let key: RecordingKey
    let files: [RecordingFile]
    do {
      let store = try DiskStore(at: path)
      key = try store.recordings.admit(try arrival(store), conflicts: .quarantine).recording.key
      let again = RecordingArrival(
        pipeline: "voice", inbox: "/inbox", path: "again.m4a",
        stamp: RecordingFileStamp(inode: 2, byteCount: 5, modified: 7, changed: 8),
        fileName: "again.m4a", recording: try arrival(store).recording)
      _ = try store.recordings.admit(again, conflicts: .quarantine)
      files = try store.recordings.files(of: key)
    }
    #expect(files.count == 2)
    try FileManager.default.removeItem(atPath: database)
    #expect(try DiskStore(at: path).recordings.files(of: key) == files)
  }

  /// Admits the same recording many times, by as many names.
  private func repeatArrival(_ numbers: Range<Int>, _ store: DiskStore) throws -> RecordingKey {
    let recording = try arrival(store).recording
    var key: RecordingKey?
    for number in numbers {
      let arrival = RecordingArrival(
        pipeline: "voice", inbox: "/inbox", path: "\(number).m4a",
        stamp: RecordingFileStamp(inode: UInt64(number), byteCount: 5, modified: 7, changed: 8),
        fileName: "\(number).m4a", recording: recording)
      key = try store.recordings.admit(arrival, conflicts: .quarantine).recording.key
    }
    return try #require(key)
  }

  private func logByteCount(_ path: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: path)
      .filter { $0.hasPrefix("changes-") }
      .reduce(0) { try $0 + Int(FileStamp(at: "\(path)/\($1)").byteCount) }
  }

  @Test("what one recording's repeats add to the log does not grow with their number")
  func longHistory() throws {
    let store = try DiskStore(at: path)
    _ = try repeatArrival(0..<100, store)
    let early = try logByteCount(path)
    _ = try repeatArrival(100..<200, store)
    let middle = try logByteCount(path)
    _ = try repeatArrival(200..<600, store)
    let late = try logByteCount(path)
    #expect(late - middle < 5 * (middle - early), "\(early), \(middle), \(late)")
  }

  @Test(
    "a long history comes back whole from a lost database, from a cut log and from an old backup",
    arguments: ["lost", "cut", "backup", "renewed"])
  func longHistoryBack(loss: String) throws {
    var key: RecordingKey?
    var expected: (recording: Recording?, files: [RecordingFile], events: [RecordingEvent])?
    try withOpenStore { store in
      key = try repeatArrival(0..<30, store)
      if loss == "backup" { _ = try store.backUp() }
      if loss == "renewed" {
        try store.withDatabase { (database) throws(SpoolError) in
          try store.changeLog.renew(in: &database)
        }
      }
      let recording = try repeatArrival(30..<60, store)
      _ = try store.recordings.change(recording, .begin)
      for file in try store.recordings.files(of: recording).prefix(5) {
        try store.recordings.settle(file, .accepted, at: "accepted/\(file.path)", stamp: file.stamp)
      }
      expected = (
        try store.recordings.recording(recording), try store.recordings.files(of: recording),
        try store.recordings.events(of: recording)
      )
    }
    if loss == "cut" {
      #expect(unsafe truncate(database + "-wal", 0) == 0)
    } else {
      try FileManager.default.removeItem(atPath: database)
      try? FileManager.default.removeItem(atPath: database + "-wal")
    }
    try? FileManager.default.removeItem(atPath: database + "-shm")
    let recording = try #require(key)
    do {
      let store = try DiskStore(at: path)
      #expect(try store.recordings.recording(recording) == expected?.recording)
      #expect(try store.recordings.files(of: recording) == expected?.files)
      #expect(try store.recordings.events(of: recording) == expected?.events)
      #expect(expected?.files.count == 60)
      if loss != "cut" { #expect(store.recovery?.recordings == 1) }
      // What was forgotten stays so.
      _ = try store.recordings.change(recording, .putBack(reason: "test"))
      #expect(try store.recordings.forget(recording)?.recording != nil)
    }
    try FileManager.default.removeItem(atPath: database)
    #expect(try DiskStore(at: path).recordings.recording(recording) == nil)
  }
}
