import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct SchemaTests {
  private let scratch: ScratchFolder
  private let path: String

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("spool.sqlite")
  }

  private func version(_ database: inout Database) throws -> SQLValue? {
    try database.run("PRAGMA user_version", to: "test").first?.first
  }

  @Test("brings a database of the first version up to date and keeps its rows")
  func older() throws {
    let store = scratch.file("store")
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    do {
      var database = try Database(at: store + "/spool.sqlite")
      try Schema(steps: Array(Schema.current.steps.prefix(1))).migrate(&database, at: path)
      #expect(try version(&database) == .integer(1))
      let key = KeyComponents.sample("eq", "1")
      try database.run(
        "INSERT INTO checkpoints (key, kind, components, memo) VALUES (?, 'eq', ?, 'old')",
        [.text(key.key.digest.hex), .text(try StoredJSON.encode(key, to: "test"))], to: "test")
    }
    let opened = try DiskStore(at: store)
    #expect(try opened.checkpoint(for: KeyComponents.sample("eq", "1").key)?.memo == "old")
    try scratch.write("x", to: "file")
    _ = try opened.digest(ofFile: scratch.file("file"))
  }

  @Test("takes every step once, in order")
  func steps() throws {
    let first = "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1);"
    let second = "ALTER TABLE t ADD COLUMN b TEXT; UPDATE t SET b = 'from ' || a;"
    var database = try Database(at: path)
    try Schema(steps: [first]).migrate(&database, at: path)
    try Schema(steps: [first, second]).migrate(&database, at: path)
    try Schema(steps: [first, second]).migrate(&database, at: path)
    #expect(
      try database.run("SELECT a, b FROM t", to: "test") == [[.integer(1), .text("from 1")]])
    #expect(try version(&database) == .integer(2))
  }

  @Test("a step that fails leaves a database as it was, also the steps before it")
  func failingStep() throws {
    var database = try Database(at: path)
    let first = "CREATE TABLE t (a INTEGER) STRICT;"
    try Schema(steps: [first]).migrate(&database, at: path)
    let bad = Schema(steps: [
      first, "ALTER TABLE t ADD COLUMN b TEXT;",
      "INSERT INTO t VALUES (1, 'b'); INSERT INTO absent VALUES (1);",
    ])
    do throws(SpoolError) {
      try bad.migrate(&database, at: path)
      Issue.record("the bad step was taken")
    } catch {
      #expect(error.reason == "no such table: absent" && error.action == "update")
    }
    #expect(try version(&database) == .integer(1))
    #expect(try database.run("SELECT name FROM pragma_table_info('t')", to: "test").count == 1)
  }

  @Test("refuses a database that a newer Spool wrote, and leaves it alone")
  func newer() throws {
    let store = scratch.file("store")
    do {
      let made = try DiskStore(at: store)
      try made.withDatabase { (database) throws(SpoolError) in
        try database.script("PRAGMA user_version = 999", to: "test")
      }
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: store + "/spool.sqlite"))
    let error = try #require(throws: SpoolError.self) { try DiskStore(at: store) }
    #expect(error.message.contains("newer Spool") && error.why.contains("999"))
    #expect(error.advice?.contains("install the newer Spool") == true)
    #expect(try Data(contentsOf: URL(fileURLWithPath: store + "/spool.sqlite")) == before)
  }
}
