import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct PinDamageTests {
  private static let day = 86400.0

  private let sample: StoreSample
  private var record: String { sample.path + "/records/pins/\(sample.run.id).json" }

  init() throws {
    sample = try StoreSample(runStart: Date().timeIntervalSince1970 - 40 * Self.day)
    try sample.age(by: 40 * Self.day)
    _ = try DiskStore(at: sample.path).runs.pin(sample.run.id.name)
  }

  private func change(_ sql: String) throws {
    let database = try Database(at: sample.database)
    try database.script(sql, to: "test")
  }

  private func pins() throws -> [String] {
    var database = try Database(at: sample.database, for: .reading)
    return try PinTable.pins(in: &database).map(\.run.name)
  }

  private func collect() throws -> CollectionReport {
    var policy = CollectionPolicy()
    policy.age = Self.day
    return try DiskStore(at: sample.path).collect(policy)
  }

  @Test(
    "a row that a flipped bit changed is found, frees nothing, and is mended from the record",
    arguments: [
      ("UPDATE pins SET run = replace(run, '2026', '2027')", 2),
      // The highest bit of the first letter.
      ("UPDATE pins SET run = CAST(x'b2' || substr(run, 2) AS TEXT)", 2),
      ("DELETE FROM pins", 1), ("UPDATE pins SET pinned_at = -pinned_at", 1),
    ])
  func row(sql: String, findings: Int) throws {
    #expect(try sample.damage() == [])
    try change(sql)
    let found = try sample.damage()
    #expect(found.map(\.kind) == Array(repeating: .damagedPin, count: findings))
    #expect(found.contains { $0.problem.contains(sample.run.id.name) })
    let report = try collect()
    #expect(report.files == [] && report.pinned == 1)
    #expect(try sample.remembersEverything())
    _ = try Repair(of: sample.path).run()
    #expect(try sample.damage() == [])
    #expect(try pins() == [sample.run.id.name])
  }

  @Test("a pin whose record is gone or damaged still holds, and gets its record again")
  func recordLost() throws {
    try FileManager.default.removeItem(atPath: record)
    #expect(try sample.damage().map(\.kind) == [.damagedPin])
    #expect(try collect().files == [])
    _ = try Repair(of: sample.path).run()
    #expect(try sample.damage() == [])
    try flipBit(0, ofByte: 80, in: record)
    try change("DELETE FROM pins")
    #expect(try collect().files == [], "the file's name says which run")
  }

  @Test("a record of a pin that names no run is found, and goes")
  func unknownRun() throws {
    let store = try DiskStore(at: sample.path)
    try store.records.write(Pin(run: RunID("20250101-000000-0000"), pinnedAt: 1))
    let found = try sample.damage()
    #expect(found.map(\.kind) == [.damagedPin] && found.first?.subject == "20250101-000000-0000")
    _ = consume store
    _ = try Repair(of: sample.path).run()
    #expect(try sample.damage() == [])
    #expect(try pins() == [sample.run.id.name])
  }

  @Test("a pinned run stays pinned until it is unpinned")
  func unpin() throws {
    _ = try DiskStore(at: sample.path).runs.unpin(sample.run.id.name)
    #expect(try sample.damage() == [])
    try sample.age(by: 40 * Self.day)
    #expect(try collect().files.count == 3)
  }
}
