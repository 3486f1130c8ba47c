import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// Opens copies of the store that version 0.1 left, damaged in every way.
@Suite(
  "A store with the old records gets a change log, whatever happens meanwhile",
  .enabled(if: Program(named: "tar") != nil && Program(named: "xz") != nil, "tar or xz is missing"))
struct OldRecordsTests {
  private let scratch: ScratchFolder
  private let original: String

  init() throws {
    scratch = try ScratchFolder()
    try PackageFiles.unpackKeptStore(into: scratch)
    original = scratch.file("store")
  }

  /// A fresh copy.
  private func copy() throws -> String {
    let path = scratch.file("copy")
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.copyItem(atPath: original, toPath: path)
    return path
  }

  private func loseDatabase(of path: String) throws {
    for name in names(in: path) where name.hasPrefix("spool.sqlite") || name == "backups" {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
  }

  /// Rows of the tables that came with the old records, as text.
  private func content(of path: String) throws -> [String] {
    let store = try DiskStore(at: path)
    return try store.withDatabase { (database) throws(SpoolError) in
      var rows: [String] = []
      for table in ["checkpoints", "outputs", "runs", "notes", "note_events", "note_files"] {
        let columns = try TableColumns(of: table, in: &database)
        // The time, process and place of a write may differ.
        let kept = columns.names.indices.filter {
          !["moment", "owner", "recorded_at"].contains(columns.names[$0])
        }
        for row in try columns.rows(in: &database) {
          rows.append("\(table) \(kept.map { row[$0] })")
        }
      }
      return rows
    }
  }

  private func expectMigrated(_ path: String, _ comment: Comment) throws {
    #expect(!FileManager.default.fileExists(atPath: path + "/records"), comment)
    #expect(names(in: path).filter { $0.hasPrefix("changes-") }.count == 1, comment)
    #expect(try Inspection(of: path).run().findings.filter(\.isDamage) == [], comment)
  }

  @Test("with its database, all rows are in the log")
  func whole() throws {
    let path = try copy()
    let before = try content(of: path)
    #expect(before.count > 20)
    try expectMigrated(path, "at first")
    try loseDatabase(of: path)
    #expect(try content(of: path) == before, "from the log alone")
  }

  @Test("its exports are those of the pipelines and receipts that its runs name")
  func exportOwners() throws {
    let rows = try DiskStore(at: copy()).withDatabase { (database) throws(SpoolError) in
      try database.run(
        """
        SELECT pipeline, receipt FROM published
        WHERE path IN ('/tmp/fx/out/spool.pub', '/tmp/fx/out/tone.flac', '/tmp/fx/out/tone.srt')
        ORDER BY path
        """, to: "test")
    }
    #expect(
      rows == [
        [.null, .null], [.text("kept"), .text("/tmp/fx/out/tone.receipt.json")],
        [.text("kept-words"), .null],
      ])
  }

  @Test("without its database, it is made from the records, and all rows are in the log")
  func lost() throws {
    let path = try copy()
    let before = try content(of: path)
    let again = try copy()
    try loseDatabase(of: again)
    let rows = try content(of: again)
    #expect(rows == before)
    try expectMigrated(again, "without a database")
    try loseDatabase(of: again)
    #expect(try content(of: again) == before, "from the log alone")
  }

  @Test("with a database that lost its last rows, they come from the records")
  func older() throws {
    let path = try copy()
    let before = try content(of: path)
    let again = try copy()
    do {
      var database = try Database(at: again + "/spool.sqlite")
      for table in ["checkpoints", "runs", "notes"] {
        try database.run("DELETE FROM \(table)", to: "test")
      }
      try database.run("DELETE FROM ledger_owed", to: "test")
      try database.run("UPDATE ledger SET byte_count = 0, number = 0", to: "test")
    }
    #expect(try content(of: again) == before)
    try expectMigrated(again, "with an older database")
  }

  @Test("killed before any call, the next opening ends it", arguments: [false, true])
  func death(isLost: Bool) throws {
    let whole = try copy()
    let before = try content(of: whole)
    for number in 1... {
      let path = try copy()
      if isLost { try loseDatabase(of: path) }
      let probe = FileProbe(.deadFrom(number))
      _ = try? DiskStore(at: path, files: probe.files)
      let isOver = probe.failures.isEmpty
      #expect(try content(of: path) == before, "\(number): \(probe.failures.first as Any)")
      try expectMigrated(path, "\(number)")
      if isOver {
        #expect(number > 20)
        break
      }
    }
  }
}

/// What version 0.1 wrote.
enum OldStore {
  /// The line of a recording, as the old log has it.
  static func line(
    ofRecording key: String, number: Int64, in database: inout Database
  ) throws -> String {
    var tables: [String: [[String: Any]]] = [:]
    for (table, column) in [("notes", "key"), ("note_events", "note"), ("note_files", "note")] {
      let columns = try TableColumns(of: table, in: &database)
      let rows = try columns.rows(in: &database)
      let place = try #require(columns.names.firstIndex(of: column))
      tables[table] = rows.filter { $0[place] == .text(key) }.map { row in
        Dictionary(
          zip(columns.names, row.map(value)), uniquingKeysWith: { first, _ in first })
      }
    }
    let rows = try JSONSerialization.data(withJSONObject: ["key": key, "tables": tables])
    let body = "\(number) note \(key) \(String(decoding: rows, as: UTF8.self))"
    return "\(SHA256.digest(of: body).hex.prefix(16)) \(body)\n"
  }

  private static func value(_ value: SQLValue) -> Any {
    switch value {
    case .null: NSNull()
    case .integer(let integer): integer
    case .real(let real): real
    case .text(let text): text
    }
  }
}
