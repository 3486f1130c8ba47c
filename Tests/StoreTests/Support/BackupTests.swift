import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct BackupTests {
  private let sample: StoreSample
  private var folder: String { sample.path + "/backups" }

  init() throws { sample = try StoreSample() }

  private func slots(_ files: FileOperations = .system) -> BackupSlots {
    BackupSlots(folder: folder, files: files, schema: .current)
  }

  /// How many checkpoints a backup holds.
  private func count(_ path: String) throws -> Int64? {
    var database = try Database(at: path, for: .frozen)
    return try database.run("SELECT count(*) FROM checkpoints", to: "test").first?.first?.integer
  }

  @Test("the last three are kept, the newest first")
  func rotation() throws {
    let store = try DiskStore(at: sample.path)
    for number in 0..<5 {
      try store.commit(Checkpoint(components: .sample("more", "\(number)"), outputs: [:]))
      #expect(try store.backUp() == folder + "/spool-1.sqlite")
    }
    #expect(names(in: folder) == (1...3).map { "spool-\($0).sqlite" })
    #expect(try (1...3).map { try count(slots().path($0)) } == [8, 7, 6])
  }

  @Test("after a run one is made by itself, once a day")
  func daily() throws {
    let start = Clock.now()
    let time = SettableTime(start)
    let store = try DiskStore(
      at: sample.path, files: .system, clock: { time.value })
    let stamp = try FileStamp(at: slots().path(1))
    try store.runs.save(sample.run)
    #expect(try FileStamp(at: slots().path(1)) == stamp)
    time.value = start + 25 * 3600 * 1_000_000_000
    var running = sample.run
    running.state = .running
    try store.runs.save(running)
    #expect(names(in: folder).count == 1, "while it runs, nothing is backed up")
    try store.runs.save(sample.run)
    #expect(names(in: folder).count == 2)
    // A clock that was set back must not keep backups from being made.
    time.value = start - 3600 * 1_000_000_000
    try store.runs.save(sample.run)
    #expect(names(in: folder).count == 3)
  }

  @Test("a gap in the slots costs none of the others")
  func gap() throws {
    let store = try DiskStore(at: sample.path)
    for _ in 0..<2 { _ = try store.backUp() }
    let third = try FileStamp(at: slots().path(3)).inode
    try FileManager.default.removeItem(atPath: slots().path(2))
    _ = try store.backUp()
    #expect(try FileStamp(at: slots().path(3)).inode == third)
    #expect(slots().filled == [1, 2, 3])
  }

  @Test("a backup into a file replaces nothing unless told so")
  func file() throws {
    let store = try DiskStore(at: sample.path)
    let target = sample.scratch.file("copy.sqlite")
    try store.backUp(to: target, isReplacing: false)
    #expect(try count(target) == 3)
    let error = try #require(throws: SpoolError.self) {
      try store.backUp(to: target, isReplacing: false)
    }
    #expect(error.reason == "a file is there already")
    try store.backUp(to: target, isReplacing: true)
    #expect(names(in: sample.scratch.path).sorted() == ["copy.sqlite", "out", "store"])
  }

  @Test("restoring puts a backup in place, and keeps what was there")
  func restore() throws {
    let late = Checkpoint(components: .sample("late", "1"), outputs: [:])
    do { try DiskStore(at: sample.path).commit(late) }
    let done = try DiskStore.restore(sample.path, from: nil)
    #expect(done.backup == slots().path(1))
    #expect(try count(try #require(done.keptAside)) == 4)
    // What came after the backup is in the change log, and is taken in again.
    #expect(try DiskStore(at: sample.path).checkpoint(for: late.key) == late)
    #expect(try sample.remembersEverything())
  }

  @Test("on a new computer, a backup's file makes a store that knows the runs, and no lost file")
  func newComputer() throws {
    let file = sample.scratch.file("copy.sqlite")
    do { try DiskStore(at: sample.path).backUp(to: file, isReplacing: false) }
    let path = sample.scratch.file("new/store")
    #expect(throws: SpoolError.self) { try DiskStore.restore(path, from: nil) }
    #expect(throws: SpoolError.self) { try DiskStore.restore(path, from: sample.export) }
    #expect(!DiskStore.isThere(at: path))
    #expect(try DiskStore.restore(path, from: file).keptAside == nil)
    #expect(try DiskStore(at: path).runs.newest(limit: 9).map(\.id) == [sample.run.id])
    let found = try Inspection(of: path, Inspection.Options()).run()
    #expect(found.findings.filter(\.isDamage) == [])
  }

  @Test("a database of a newer format is replaced only when told so, and is kept aside")
  func newerFormat() throws {
    let format = Schema.current.steps.count
    do {
      let database = try Database(at: sample.database)
      try database.script("PRAGMA user_version = 999; UPDATE format SET version = 999", to: "test")
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: sample.database))
    let error = try #require(throws: SpoolError.self) {
      try DiskStore.restore(sample.path, from: nil)
    }
    #expect(error.path == sample.database && error.advice?.contains("--force") == true)
    #expect(error.why.contains("format 999") && error.why.contains("format \(format)"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: sample.database)) == before)
    let done = try DiskStore.restore(sample.path, from: nil, replacesNewer: true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: try #require(done.keptAside))) == before)
    #expect(try sample.remembersEverything())
  }

  @Test("a backup of another store is refused, unless that is wanted; one's own never is")
  func otherStore() throws {
    let scratch = try ScratchFolder()
    let other = scratch.file("other.sqlite")
    do {
      let store = try DiskStore(at: scratch.file("store"))
      var run = RunRecord(
        id: RunID("20251121-142205-aaaa"), pipeline: "p", pipelinePath: "/p", inputs: [:],
        overrides: [:], startedAt: 1)
      run.state = .done
      try store.runs.save(run)
      try store.backUp(to: other, isReplacing: false)
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: sample.database))
    let error = try #require(throws: SpoolError.self) {
      try DiskStore.restore(sample.path, from: other)
    }
    #expect(error.why.contains("another store") && error.path == other)
    #expect(error.advice?.contains("--other-store") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: sample.database)) == before)

    let own = scratch.file("own.sqlite")
    do { try DiskStore(at: sample.path).backUp(to: own, isReplacing: false) }
    #expect(try DiskStore.restore(sample.path, from: own).backup == own)
    // A database that was lost and made again has another name, and knows the same runs.
    for name in names(in: sample.path) where name.hasPrefix("spool.sqlite") {
      try FileManager.default.removeItem(atPath: sample.path + "/" + name)
    }
    #expect(try DiskStore.restore(sample.path, from: own).backup == own)
    try FileManager.default.removeItem(atPath: folder)
    for name in names(in: sample.path) where name.hasPrefix("spool.sqlite") {
      try FileManager.default.removeItem(atPath: sample.path + "/" + name)
    }
    do { _ = try DiskStore(at: sample.path) }
    #expect(try DiskStore.restore(sample.path, from: own).backup == own)
    #expect(
      try DiskStore.restore(sample.path, from: other, acceptsOtherStore: true).backup == other)
    // What this store's log knows is taken in beside what the other one's backup knows.
    #expect(try DiskStore(at: sample.path).runs.newest(limit: 9).count == 2)
    #expect(try sample.remembersEverything())
  }

  @Test("what is no backup is not restored, and nothing changes")
  func wrongFile() throws {
    let before = try Data(contentsOf: URL(fileURLWithPath: sample.database))
    let other = sample.scratch.file("other.sqlite")
    do {
      let database = try Database(at: other)
      try database.script("CREATE TABLE t (a)", to: "test")
    }
    try put("text that is no database", at: sample.scratch.file("text"))
    for (path, reason) in [
      (sample.export, "file is not a database"), (sample.scratch.file("text"), "not a database"),
      (sample.scratch.file("absent"), "no such file"), (other, "not those of a store"),
      (slots().path(3), "no such file"),
    ] {
      let error = try #require(throws: SpoolError.self) {
        try DiskStore.restore(sample.path, from: path)
      }
      #expect(error.why.contains(reason), "\(error)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: sample.database)) == before)
    #expect(try sample.remembersEverything())
  }

  @Test("nothing is restored while somebody works in the store")
  func inUse() throws {
    let store = try DiskStore(at: sample.path)
    #expect(throws: SpoolError.self) { try DiskStore.restore(sample.path, from: nil) }
    #expect(try store.runs.newest(limit: 1).count == 1)
  }

  @Test(
    "a backup that fails at any call leaves the older ones and no half one",
    arguments: [ENOSPC, EIO])
  func faults(code: CInt) throws {
    do {
      let store = try DiskStore(at: sample.path)
      for _ in 0..<2 { _ = try store.backUp() }
    }
    for number in 1... {
      let probe = FileProbe(.once(number, code: code))
      let database = try Database(at: sample.database)
      let isDone = (try? slots(probe.files).add(database)) == true
      if probe.failures.isEmpty {
        #expect(isDone && number > 5)
        break
      }
      #expect(!isDone, "\(probe.failures)")
      #expect(names(in: folder).allSatisfy { $0.hasSuffix(".sqlite") }, "\(probe.failures)")
      let filled = slots().filled
      #expect(filled.count >= 2, "\(probe.failures)")
      for slot in filled { #expect(throws: Never.self) { try slots().examine(slots().path(slot)) } }
    }
  }

  @Test("a restore that fails at any call leaves a store that works", arguments: [ENOSPC, EIO])
  func restoreFaults(code: CInt) throws {
    for number in 1... {
      let probe = FileProbe(.once(number, code: code))
      let done = try? DiskStore.restore(sample.path, from: nil, files: probe.files)
      let store = try DiskStore(at: sample.path)
      for checkpoint in sample.checkpoints {
        #expect(try store.checkpoint(for: checkpoint.key) == checkpoint, "\(probe.failures)")
      }
      if probe.failures.isEmpty {
        #expect(done != nil && number > 5)
        break
      }
    }
  }

  @Test("half a copy that a killed process left goes with the next backup")
  func swept() throws {
    let dead = ProcessIdentity(boot: "00000000", number: 1, start: 1)
    try put("half", at: "\(folder)/\(AbandonedFiles.newName(for: dead))")
    _ = try DiskStore(at: sample.path).backUp()
    #expect(names(in: folder) == ["spool-1.sqlite", "spool-2.sqlite"])
  }
}
