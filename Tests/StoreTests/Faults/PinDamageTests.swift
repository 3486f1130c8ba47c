import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct PinDamageTests {
  private static let day = 86400.0

  private let sample: StoreSample

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
    "a row that a flipped bit changed is found, frees nothing, and is mended from the log",
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

  @Test("a pin outlives a damaged log, which is written again")
  func logDamaged() throws {
    try flipBit(0, ofByte: 80, in: sample.log)
    #expect(try sample.damage().map(\.kind) == [.damagedRecord])
    #expect(try collect().files == [])
    _ = try Repair(of: sample.path).run()
    #expect(try sample.damage() == [])
    #expect(try pins() == [sample.run.id.name])
  }

  @Test("a pin that names no run is found, and goes")
  func unknownRun() throws {
    try change("INSERT INTO pins VALUES ('20250101-000000-0000', 1)")
    let found = try sample.damage()
    #expect(found.map(\.kind) == [.damagedPin] && found.first?.subject == "20250101-000000-0000")
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
