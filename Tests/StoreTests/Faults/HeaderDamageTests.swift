import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// The first hundred bytes of a database, of which SQLite checks the fewest.
@Suite struct HeaderDamageTests {
  private let sample: StoreSample
  private let sound: Data

  init() throws {
    sample = try StoreSample()
    sound = try Data(contentsOf: URL(fileURLWithPath: sample.database))
  }

  /// Puts the sound database back, and the flipped one in its place.
  private func flip(_ bit: Int, ofByte byte: Int, alsoInBackups: Bool) throws {
    let manager = FileManager.default
    for name in names(in: sample.path) where name.hasPrefix("spool.sqlite") {
      try manager.removeItem(atPath: sample.path + "/" + name)
    }
    try? manager.removeItem(atPath: sample.path + "/backups")
    try manager.createDirectory(
      atPath: sample.path + "/backups", withIntermediateDirectories: true)
    var damaged = sound
    damaged[byte] ^= 1 << UInt8(bit)
    try damaged.write(to: URL(fileURLWithPath: sample.database))
    try (alsoInBackups ? damaged : sound).write(
      to: URL(fileURLWithPath: sample.path + "/backups/spool-1.sqlite"))
    try sound.write(to: URL(fileURLWithPath: sample.path + "/backups/spool-2.sqlite"))
  }

  /// What is wrong after a bit was flipped; nil if the store works and tells the truth.
  private func fault(_ bit: Int, ofByte byte: Int, alsoInBackups: Bool) throws -> String? {
    try flip(bit, ofByte: byte, alsoInBackups: alsoInBackups)
    let found = try sample.inspect(isQuick: true).findings
    let store = try DiskStore(at: sample.path)
    if found.contains(where: { $0.kind == .database }) != (store.recovery != nil) {
      return "the check says \(found), the store \(store.recovery?.line ?? "nothing")"
    }
    for checkpoint in sample.checkpoints {
      if try store.checkpoint(for: checkpoint.key) != checkpoint { return "a checkpoint is lost" }
    }
    if try store.runs.newest(limit: 9) != [sample.run] { return "the run is lost" }
    try store.runs.save(sample.run)
    if alsoInBackups, store.recovery?.slot == 1 { return "it took a damaged backup" }
    if store.recovery != nil, store.recovery?.slot == nil { return "it passed over a good backup" }
    return nil
  }

  @Test(
    "whichever bit flips, the store works as before, or says that it went back to a backup",
    arguments: [false, true])
  func anyBit(alsoInBackups: Bool) throws {
    // All of them where there is time; elsewhere every byte once, and what tells the format wholly.
    let isLong = ProcessInfo.processInfo.environment["SPOOL_LONG_TESTS"] != nil
    for byte in 0..<100 {
      let isTelling = [18, 19, 47, 63].contains(byte)
      for bit in 0..<8 where isLong || isTelling || bit == (byte * 5) % 8 {
        do {
          let fault = try fault(bit, ofByte: byte, alsoInBackups: alsoInBackups)
          #expect(fault == nil, "bit \(bit) of byte \(byte)")
        } catch {
          Issue.record(error, "bit \(bit) of byte \(byte)")
        }
      }
    }
  }

  @Test("without any backup, the log gives back what there was")
  func noBackup() throws {
    for (byte, bit) in [(18, 2), (47, 0), (63, 2)] {
      try flip(bit, ofByte: byte, alsoInBackups: false)
      try FileManager.default.removeItem(atPath: sample.path + "/backups")
      let store = try DiskStore(at: sample.path)
      let recovery = try #require(store.recovery)
      #expect(recovery.slot == nil && recovery.checkpoints == 3 && recovery.runs == 1)
      #expect(try store.runs.newest(limit: 9) == [sample.run])
    }
  }

  @Test("a header that tells an older format is no reason to change the tables or the backups")
  func toldOlder() throws {
    for _ in 0..<4 {
      try flip(0, ofByte: 63, alsoInBackups: false)
      _ = try DiskStore(at: sample.path)
    }
    for slot in [1, 2] {
      let backup = try Data(
        contentsOf: URL(fileURLWithPath: sample.path + "/backups/spool-\(slot).sqlite"))
      #expect(backup == sound)
    }
  }

  @Test("a table that is missing is noticed")
  func missingTable() throws {
    do {
      let database = try Database(at: sample.database)
      try database.script("DROP TABLE verified", to: "test")
    }
    #expect(try sample.damage().map(\.kind) == [.database])
    let store = try DiskStore(at: sample.path)
    #expect(store.recovery?.cause.contains("tables") == true)
    #expect(try store.runs.newest(limit: 9) == [sample.run])
  }

  @Test("a change of format that fails over and over keeps the older backups")
  func failingChange() throws {
    let path = sample.scratch.file("older")
    let steps = Schema.current.steps
    let older = Schema(steps: steps.dropLast())
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    do {
      var database = try Database(at: path + "/spool.sqlite")
      try older.migrate(&database, at: path)
      try older.seal(&database)
      let slots = BackupSlots(folder: path + "/backups", files: .system, schema: older)
      for number in 0..<4 {
        try database.run(
          "INSERT INTO checkpoints (key, kind, components) VALUES (?, 'more', '{}')",
          [.text("\(number)")], to: "test")
        if number < 3 { _ = try slots.add(database) }
      }
    }
    let before = try FileStamp(at: path + "/backups/spool-1.sqlite").inode
    // Possible on an empty database only.
    let failing = Schema(
      steps: steps.dropLast() + ["CREATE UNIQUE INDEX only_one ON checkpoints (kind);"])
    for _ in 0..<4 {
      #expect(throws: SpoolError.self) {
        try DiskStore(at: path, files: .system, schema: failing)
      }
    }
    #expect(try FileStamp(at: path + "/backups/spool-2.sqlite").inode == before)
    #expect(try DiskStore(at: path).recovery == nil)
  }

  @Test("of the slots, one that holds nothing good is the first to be given up")
  func badSlotGoesFirst() throws {
    let store = try DiskStore(at: sample.path)
    for _ in 0..<2 { _ = try store.backUp() }
    let third = try FileStamp(at: sample.path + "/backups/spool-3.sqlite").inode
    try flipBit(0, ofByte: 63, in: sample.path + "/backups/spool-2.sqlite")
    _ = try store.backUp()
    #expect(try FileStamp(at: sample.path + "/backups/spool-3.sqlite").inode == third)
  }
}
