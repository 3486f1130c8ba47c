import Foundation
import Platform
import TestSupport
import Testing

/// Opens copies of a store whose database has no checksums for its pages.
@Suite(
  "A database of an earlier version gets checksums for its pages, and loses nothing by it",
  .enabled(if: Program(named: "tar") != nil && Program(named: "xz") != nil, "tar or xz is missing"))
struct ChecksumUpgradeTests {
  private let place: Workspace

  init() throws {
    place = try Workspace()
    try PackageFiles.unpackKeptStore("store-format-27", into: place.folder)
  }

  /// What the database has of everything that decides, by table.
  private func rows() throws -> [[SQLRow]] {
    var database = try place.database()
    return try [
      "checkpoints", "outputs", "runs", "published", "notes", "note_events", "note_files",
      "receipts", "receipt_head", "awaited_stamps", "struck", "pins",
    ].map { table in
      let columns = try database.run(
        "SELECT group_concat(name) FROM pragma_table_info('\(table)') WHERE name != 'warnings'",
        to: "read")
      let names = try #require(columns.first?[0].text)
      return try database.run("SELECT \(names) FROM \(table) ORDER BY \(names)", to: "read")
    }
  }

  /// Whether the header reserves room for checksums. Reads only the file: opening the database would
  /// carry its log on.
  private func hasChecksums() throws -> Bool {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: place.store + "/spool.sqlite"))
    try file.seek(toOffset: 20)
    return try file.read(upToCount: 1) == Data([8])
  }

  @Test("on the next opening, with all rows, and check calls it sound")
  func upgrade() throws {
    let before = try rows()
    #expect(try !hasChecksums())
    #expect(try place.spool(["runs"]).exitCode == 0)
    #expect(try hasChecksums())
    #expect(try rows() == before)
    let check = try place.spool(["store", "check"])
    #expect(check.exitCode == 0, "\(check.text)")
  }

  @Test("also after a kill before any of its writes")
  func kills() throws {
    let before = try rows()
    let kept = place.file("kept")
    let manager = FileManager.default
    try manager.copyItem(atPath: place.store, toPath: kept)
    let step = ProcessInfo.processInfo.environment["SPOOL_LONG_TESTS"] == nil ? 23 : 1
    var (number, kills, plain) = (1, 0, 0)
    while true {
      try manager.removeItem(atPath: place.store)
      try manager.copyItem(atPath: kept, toPath: place.store)
      let killed = try place.spool(["runs"], environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
      if killed.exitCode == 0 { break }
      kills += 1
      if try !hasChecksums() { plain += 1 }
      let next = try place.spool(["runs"])
      #expect(next.exitCode == 0 && next.errorOutput.isEmpty, "\(number): \(next.errorOutput)")
      #expect(try hasChecksums(), "\(number)")
      #expect(try rows() == before, "\(number)")
      number += step
    }
    #expect(kills > 5 && plain > 0 && plain < kills, "\(kills) kills, \(plain) before the end")
  }
}
