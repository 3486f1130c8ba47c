import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// Only the files of a store came back: its database, change log and backups are gone.
@Suite("Files whose records are lost are kept, and the loss is not hidden")
struct LostRecordsTests {
  private let sample: StoreSample
  private let backup: String
  private let count: Int

  init() throws {
    sample = try StoreSample()
    backup = sample.scratch.file("backup.sqlite")
    do { try DiskStore(at: sample.path).backUp(to: backup, isReplacing: false) }
    count = sample.files(in: "artifacts").count
    // Old enough that nothing else keeps the files.
    try sample.age(by: 40 * 86_400)
    try Self.loseDatabase(of: sample)
    try FileManager.default.removeItem(atPath: sample.path + "/backups")
  }

  /// Removes the database and its change log.
  private static func loseDatabase(of sample: StoreSample) throws {
    for name in names(in: sample.path)
    where name.hasPrefix("spool.sqlite") || name.hasPrefix("changes-") {
      try FileManager.default.removeItem(atPath: sample.path + "/" + name)
    }
  }

  private static func commitLate(to store: DiskStore) throws {
    let late = try store.makeArtifact("later than the backup")
    try store.commit(
      Checkpoint(components: .sample("late", "1"), outputs: [PortName("file"): StepOutput(late)]))
  }

  private func collect(_ change: (inout CollectionPolicy) -> Void = { _ in }) throws
    -> CollectionReport
  {
    var policy = CollectionPolicy()
    policy.grace = 0
    change(&policy)
    return try DiskStore(at: sample.path).collect(policy)
  }

  @Test("a check says so before and after another command has opened the store")
  func check() throws {
    #expect(try sample.damage().map(\.kind) == [.database])
    #expect(try sample.damage()[0].meaning.contains("spool store restore FILE"))
    let recovery = try #require(try DiskStore(reading: sample.path).recovery)
    #expect(recovery.unrecordedFiles == count && recovery.line.contains("an empty one"))
    #expect(try DiskStore(reading: sample.path).recovery == nil)
    #expect(try sample.damage().map(\.kind) == [.lostRecords])
  }

  @Test("no collection frees them, also after a repair, until it is told to")
  func collection() throws {
    #expect(try collect().files == [])
    let repaired = try Repair(of: sample.path).run()
    #expect(repaired.remaining == [] && repaired.actions.count == 1)
    #expect(try sample.damage() == [])
    let kept = try collect { $0.age = 0 }
    #expect(kept.files == [] && kept.unrecordedBytes == kept.keptBytes)
    #expect(sample.files(in: "artifacts").count == count)
    #expect(try collect { $0.includesUnrecorded = true }.files.count == count)
    #expect(try collect().unrecordedBytes == 0)
  }

  @Test("with a flipped bit in their list, nothing is freed, and a repair writes it again")
  func damagedList() throws {
    _ = try DiskStore(at: sample.path)
    _ = try Repair(of: sample.path).run()
    let list = StoreLayout(root: sample.path).acceptedLoss
    for byte in [0, 64, 70, Int(try FileStamp(at: list).byteCount) - 2] {
      try flipBit(0, ofByte: byte, in: list)
      #expect(try collect { $0.age = 0 }.files == [], "\(byte)")
      #expect(try sample.damage().map(\.kind) == [.lostRecords], "\(byte)")
      #expect(try Repair(of: sample.path).run().remaining == [], "\(byte)")
      #expect(try collect { $0.age = 0 }.files == [], "\(byte)")
    }
    #expect(try collect { $0.includesUnrecorded = true }.files.count == count)
  }

  @Test("a file that is named again is no longer without a record")
  func namedAgain() throws {
    do {
      let store = try DiskStore(at: sample.path)
      for checkpoint in sample.checkpoints { try store.commit(checkpoint) }
    }
    #expect(try collect().unrecordedBytes == 0)
  }

  @Test("a backup that names them is the store's own, and ends the loss", arguments: [false, true])
  func restored(isOpenedBefore: Bool) throws {
    if isOpenedBefore { _ = try DiskStore(at: sample.path) }
    _ = try DiskStore.restore(sample.path, from: backup)
    #expect(try sample.remembersEverything())
    #expect(try sample.damage() == [])
  }

  @Test("with an old backup alone, the loss is told until a repair accepts it")
  func oldBackup() throws {
    let sample = try StoreSample()
    do {
      let store = try DiskStore(at: sample.path)
      try Self.commitLate(to: store)
    }
    try Self.loseDatabase(of: sample)
    #expect(try sample.damage().first?.meaning.contains("the change log is lost too") == true)
    let recovery = try #require(try DiskStore(at: sample.path).recovery)
    #expect(recovery.slot == 1 && recovery.unrecordedFiles == 1)
    #expect(!recovery.line.contains("and the change log"), "\(recovery.line)")
    for _ in 0..<2 {
      #expect(try DiskStore(at: sample.path).recovery == nil)
      #expect(try sample.damage().map(\.kind) == [.lostRecords])
    }
    #expect(try Repair(of: sample.path).run().remaining == [])
    #expect(try sample.damage() == [])
  }

  @Test(
    "a backup that lacks some of them leaves the loss told until a repair accepts it",
    arguments: [false, true])
  func olderBackup(isOpenedBefore: Bool) throws {
    let sample = try StoreSample()
    let older = sample.scratch.file("older.sqlite")
    do {
      let store = try DiskStore(at: sample.path)
      try store.backUp(to: older, isReplacing: false)
      try Self.commitLate(to: store)
    }
    try Self.loseDatabase(of: sample)
    try FileManager.default.removeItem(atPath: sample.path + "/backups")
    if isOpenedBefore { _ = try DiskStore(at: sample.path) }
    for _ in 0..<2 {
      #expect(try DiskStore.restore(sample.path, from: older).unrecordedFiles == 1)
      let told = try DiskStore(at: sample.path).lostRecords()
      #expect(told?.problem.hasSuffix(": a file has none any more") == true)
      #expect(try sample.damage() == [told])
      let named = try Inspection(of: sample.path).run().findings.filter {
        $0.kind == .unnamedArtifact
      }
      #expect(named.map(\.meaning) == named.map { _ in Self.lostMeaning } && named.count == 1)
    }
    #expect(try Repair(of: sample.path).run().remaining == [])
    #expect(try sample.damage() == [])
    #expect(try DiskStore(at: sample.path).lostRecords() == nil)
    // What was accepted stays so.
    #expect(try DiskStore.restore(sample.path, from: older).unrecordedFiles == 0)
    #expect(try DiskStore(at: sample.path).lostRecords() == nil)
    #expect(try sample.damage() == [])
  }

  private static let lostMeaning =
    "its record was lost with the database: it may be a recording, and is kept"

  @Test("a store that was never in use has lost nothing")
  func unborn() throws {
    let scratch = try ScratchFolder()
    #expect(try DiskStore(at: scratch.file("new")).recovery == nil)
    #expect(!names(in: scratch.file("new")).contains { $0.hasPrefix("lost-records") })
  }
}
