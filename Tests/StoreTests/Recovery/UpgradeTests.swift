import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// Opens copies of the store that version 0.1 left, and lets that version work on it again.
@Suite(
  "An older Spool may work on a store again, and neither side's work is lost",
  .enabled(if: Program(named: "tar") != nil && Program(named: "xz") != nil, "tar or xz is missing"))
struct UpgradeTests {
  private let scratch: ScratchFolder
  private let path: String
  private var database: String { path + "/spool.sqlite" }

  init() throws {
    scratch = try ScratchFolder()
    try PackageFiles.unpackKeptStore(into: scratch)
    path = scratch.file("store")
  }

  private func checkpoint(_ name: String) -> Checkpoint {
    Checkpoint(components: .sample("eq", name), outputs: [:], memo: "{}")
  }

  private func has(_ name: String, _ store: DiskStore) throws -> Bool {
    try store.checkpoint(for: checkpoint(name).key) != nil
  }

  private func renew(_ store: DiskStore) throws {
    try store.withDatabase { (database) throws(SpoolError) in
      try store.changeLog.renew(in: &database)
    }
  }

  /// Puts the old database in place, with a checkpoint that only it has, and a place in the old log
  /// that may be one in the new log.
  private func workOn(_ old: String, generation: Int64) throws {
    for name in names(in: path) where name.hasPrefix("spool.sqlite") {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
    try FileManager.default.copyItem(atPath: old, toPath: database)
    var database = try Database(at: database)
    let key = KeyComponents.sample("eq", "old")
    try database.run(
      "INSERT INTO checkpoints (key, kind, components, memo) VALUES (?, 'eq', ?, '{}')",
      [.text(key.key.digest.hex), .text(try StoredJSON.encode(key, to: "test"))], to: "test")
    try database.run(
      "UPDATE ledger SET generation = ?, byte_count = 100", [.integer(generation)], to: "test")
  }

  @Test(
    "which takes up its own database and records after an upgrade",
    arguments: [(false, 1), (true, 1), (true, 2)])
  func olderAgain(isRenewed: Bool, generation: Int64) throws {
    let (old, records) = (scratch.file("old.sqlite"), scratch.file("records"))
    try FileManager.default.copyItem(atPath: database, toPath: old)
    try FileManager.default.copyItem(atPath: path + "/records", toPath: records)
    let recordings: Int
    do {
      let store = try DiskStore(at: path)
      recordings = try store.recordings.matching(RecordingQuery()).count
      try store.commit(checkpoint("new"))
      for recording in try store.recordings.matching(RecordingQuery()) {
        _ = try store.recordings.forget(recording.key)
      }
      if isRenewed { try renew(store) }
      try store.commit(checkpoint("newer"))
    }
    #expect(recordings > 0)
    try workOn(old, generation: generation)
    try FileManager.default.copyItem(atPath: records, toPath: path + "/records")
    let live = names(in: path).filter { $0.hasPrefix("changes-") }
    do {
      let store = try DiskStore(at: path)
      for name in ["old", "new", "newer"] { #expect(try has(name, store), "\(name)") }
      #expect(try store.recordings.matching(RecordingQuery()).count == recordings)
      #expect(names(in: path).filter { $0.hasPrefix("changes-") } != live)
    }
    // From the log alone.
    for name in names(in: path) where name.hasPrefix("spool.sqlite") || name == "backups" {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
    let store = try DiskStore(at: path)
    for name in ["old", "new", "newer"] { #expect(try has(name, store), "\(name)") }
    #expect(try store.recordings.matching(RecordingQuery()).count == recordings)
  }

  @Test("whose records' folder keeps another program's file, and a backup is restored")
  func leftover() throws {
    let stray = path + "/records/5c/@eaDir/x"
    try FileManager.default.createDirectory(atPath: stray, withIntermediateDirectories: true)
    do {
      let store = try DiskStore(at: path)
      _ = try store.backUp()
      try store.commit(checkpoint("new"))
      try renew(store)
      try store.commit(checkpoint("newer"))
    }
    #expect(FileManager.default.fileExists(atPath: stray))
    _ = try DiskStore.restore(path, from: nil)
    let store = try DiskStore(at: path)
    #expect(try has("new", store) && has("newer", store))
  }

  @Test("which works in it now: it is not migrated meanwhile")
  func inUse() throws {
    let holder = try FolderLock(path)
    let isHeld = holder.tryShared()
    #expect(isHeld)
    let layout = StoreLayout(root: path)
    var opening = DatabaseOpening(
      layout: layout, files: .system, schema: .current,
      log: ChangeLog(
        layout: layout, drafts: DraftFolder(path: layout.drafts, files: .system), files: .system),
      slots: BackupSlots(folder: layout.backups, files: .system, schema: .current),
      clock: Clock.now)
    opening.patience = 50
    let lock = try FolderLock(path)
    var recovery: Recovery?
    let error = try #require(throws: SpoolError.self) { _ = try opening.open(lock, &recovery) }
    #expect(error.reason?.contains("an older Spool wrote it, and process") == true, "\(error)")
    #expect(error.advice?.contains("stop that") == true)
    var old = try Database(at: database)
    #expect(try old.run("SELECT 1 FROM sqlite_schema WHERE name = 'ledger_owed'", to: "test") != [])
    withExtendedLifetime(holder) {}
  }

  @Test("whose database is lost: check counts the old records")
  func lost() throws {
    for name in names(in: path) where name.hasPrefix("spool.sqlite") {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
    let report = try Inspection(of: path).run()
    #expect(report.checkpoints > 0 && report.runs > 0)
    for name in ["artifacts", "backups"] {
      try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
    #expect(try Inspection(of: path).run().findings.map(\.kind) == [.database])
  }
}
