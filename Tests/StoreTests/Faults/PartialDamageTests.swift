import Foundation
import PipelineModel
import Platform
@testable import Store
import Synchronization
import TestSupport
import Testing

/// Damage to a part of the database, which must cost no more than that part.
@Suite struct PartialDamageTests {
  private let sample: StoreSample

  init() throws { sample = try StoreSample() }

  private func change(_ sql: String) throws {
    let database = try Database(at: sample.database)
    try database.script(sql, to: "test")
  }

  /// What a store says while `body` looks at it.
  private func news(_ body: (DiskStore) throws -> Void) throws -> [String] {
    let lines = Mutex<[String]>([])
    let store = try DiskStore(at: sample.path)
    store.listen { line in lines.withLock { $0.append(line) } }
    try body(store)
    return lines.withLock { $0 }
  }

  private var otherRun: RunRecord {
    RunRecord(
      id: RunID("20261121-150000-aaaa"), pipeline: "other", pipelinePath: "/p/other.yaml",
      inputs: [:], overrides: [:], startedAt: sample.run.startedAt + 5)
  }

  @Test("a run whose row is damaged is shown as the log says, and that is said once")
  func damagedRow() throws {
    do { try DiskStore(at: sample.path).runs.save(otherRun) }
    try change("UPDATE runs SET record = '{\"id' WHERE id = '\(sample.run.id)'")
    let lines = try news { store in
      for _ in 0..<2 {
        let names = try store.runs.newest(limit: 9).map(\.id)
        #expect(names == [otherRun.id, sample.run.id])
      }
      let found = try store.runs.run(named: sample.run.id.name)
      #expect(found == sample.run)
    }
    #expect(lines.count == 1 && lines[0].contains("\(sample.run.id)"), "\(lines)")
    #expect(lines.allSatisfy { $0.contains("spool store repair") })
  }

  @Test(
    "one that the log does not have is left out, the others are listed, and nothing is freed until then"
  )
  func unreadableRow() throws {
    do { try DiskStore(at: sample.path).runs.save(otherRun) }
    try change("UPDATE runs SET record = 'x' WHERE id = '\(sample.run.id)'")
    try flipBit(0, ofByte: 99, in: sample.log)
    let lines = try news { store in
      let names = try store.runs.newest(limit: 9).map(\.id)
      #expect(names == [otherRun.id])
      let error = #expect(throws: SpoolError.self) { try store.collect(CollectionPolicy()) }
      #expect(error?.advice?.contains("spool store repair") == true)
    }
    #expect(lines.count == 1 && lines[0].contains("cannot be read"), "\(lines)")
    _ = try Repair(of: sample.path).run()
    var left: [RunID] = []
    let after = try news { left = try $0.runs.newest(limit: 9).map(\.id) }
    #expect(after == [] && left == [otherRun.id])
  }

  /// Flips a bit of the index of runs by their numbers, in the file.
  private func damageIndex(of path: String) throws {
    let (page, size) = try {
      var database = try Database(at: path, for: .reading)
      let page = try database.run(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'runs_by_number'", to: "test")
      let size = try database.run("PRAGMA page_size", to: "test")
      return (try #require(page.first?[0].integer), try #require(size.first?[0].integer))
    }()
    // A page's first entry lies at its end, and ends with the run's name. The checksum follows.
    try flipBit(0, ofByte: Int(page * size) - 9, in: path)
  }

  @Test("a damaged index is found by a check, and by the next opening")
  func index() throws {
    do { _ = try DiskStore(at: sample.path) }
    try damageIndex(of: sample.database)
    let damage = try sample.damage()
    #expect(damage.map(\.kind) == [.database])
    #expect(damage.first?.problem.contains(Database.damagedPageWords) == true, "\(damage)")
    let store = try DiskStore(at: sample.path)
    #expect(store.recovery?.cause == Database.damagedPageWords)
    #expect(try store.runs.newest(limit: 9) == [sample.run])
    #expect(try DiskStore(at: sample.path).recovery == nil)
  }

  @Test("after an end that was not clean, a damaged index is found at once")
  func indexAfterCrash() throws {
    let copy = sample.scratch.file("copy")
    do {
      let store = try DiskStore(at: sample.path)
      try store.commit(Checkpoint(components: .sample("late", "1"), outputs: [:]))
      try FileManager.default.copyItem(atPath: sample.path, toPath: copy)
    }
    try damageIndex(of: sample.database)
    let damaged = try Data(contentsOf: URL(fileURLWithPath: sample.database))
    #expect(try FileStamp(at: copy + "/spool.sqlite-wal").byteCount > 0)
    try damaged.write(to: URL(fileURLWithPath: copy + "/spool.sqlite"))
    let store = try DiskStore(at: copy)
    #expect(store.recovery?.cause == Database.damagedPageWords)
    #expect(try store.checkpoint(for: KeyComponents.sample("late", "1").key) != nil)
  }

  @Test("what is damaged is not copied over a good backup, and that is said")
  func backup() throws {
    let later = Clock.now() + 25 * 3600 * 1_000_000_000
    let time = SettableTime(Clock.now())
    let lines = Mutex<[String]>([])
    let store = try DiskStore(at: sample.path, files: .system, clock: { time.value })
    store.listen { line in lines.withLock { $0.append(line) } }
    try store.withDatabase { (database) throws(SpoolError) in
      try database.script(
        "PRAGMA foreign_keys = OFF; INSERT INTO outputs VALUES ('a', 'b', 'c', 'd', NULL, NULL)",
        to: "test")
    }
    time.value = later
    try store.runs.save(sample.run)
    #expect(names(in: sample.path + "/backups") == ["spool-1.sqlite"])
    #expect(lines.withLock { $0 }.first?.contains("the database is damaged") == true)
  }
}
