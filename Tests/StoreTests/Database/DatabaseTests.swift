import Foundation
import PipelineModel
import Platform
@testable import Store
import Synchronization
import TestSupport
import Testing

@Suite struct DatabaseTests {
  private let scratch: ScratchFolder
  private let path: String

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("test.sqlite")
  }

  @Test("gives back the values that it was given")
  func values() throws {
    var database = try Database(at: path)
    let row: SQLRow = [.null, .integer(.min), .real(-0.1), .text("naïve 'quotes' 🎙"), .text("")]
    #expect(try database.run("SELECT ?, ?, ?, ?, ?", row, to: "test") == [row])
  }

  @Test("values of one call do not linger in the next")
  func bindings() throws {
    var database = try Database(at: path)
    #expect(try database.run("SELECT ?1", [.integer(1)], to: "test") == [[.integer(1)]])
    #expect(try database.run("SELECT ?1", [], to: "test") == [[.null]])
  }

  @Test("a transaction that throws is undone")
  func rollback() throws {
    var database = try Database(at: path)
    try database.script("CREATE TABLE t (a INTEGER) STRICT", to: "test")
    do throws(SpoolError) {
      try database.transaction(to: "test") { (database) throws(SpoolError) in
        try database.run("INSERT INTO t VALUES (1)", to: "test")
        throw SpoolError("stop", "here", reason: "a test")
      }
      Issue.record("it did not throw")
    } catch {
      #expect(error.action == "stop")
    }
    #expect(try database.run("SELECT * FROM t", to: "test") == [])
    try database.transaction(to: "test") { (database) throws(SpoolError) in
      _ = try database.run("INSERT INTO t VALUES (2)", to: "test")
    }
    #expect(try database.run("SELECT * FROM t", to: "test") == [[.integer(2)]])
  }

  @Test("text in double quotes is a name and never a string")
  func quotes() throws {
    var database = try Database(at: path)
    let error = failure(of: "SELECT \"no such column\"", in: &database)
    #expect(error?.reason == "no such column: no such column")
  }

  @Test("an error says what was being done, to which file, and why")
  func errors() throws {
    var database = try Database(at: path)
    let error = failure(of: "SELEC", in: &database)
    #expect(error?.action == "test" && error?.path == path)
    #expect(error?.why.contains("syntax error") == true)
    #expect(throws: SpoolError.self) { _ = try Database(at: scratch.file("absent/test.sqlite")) }
  }

  @Test("waits for another connection that writes, and then says that it is busy")
  func busy() throws {
    let first = try Database(at: path)
    try first.script("CREATE TABLE t (a INTEGER) STRICT; BEGIN IMMEDIATE", to: "test")
    var second = try Database(at: path, patience: 50)
    let time = ContinuousClock().measure {
      let error = failure(of: "BEGIN IMMEDIATE", in: &second)
      #expect(error?.reason == "database is locked")
      #expect(error?.advice?.contains("another process") == true)
    }
    #expect(time >= .milliseconds(40))
    try first.script("COMMIT", to: "test")
    #expect(failure(of: "BEGIN IMMEDIATE", in: &second) == nil)
  }

  /// SQLite itself gives up at once here, and two processes that made one store failed so.
  @Test("waits for another connection where a new database turns to WAL")
  func turning() throws {
    let first = try Database(at: path)
    try first.script(
      """
      PRAGMA journal_mode = DELETE;
      CREATE TABLE t (a INTEGER) STRICT;
      BEGIN IMMEDIATE;
      """, to: "test")
    let path = path
    let opened = Mutex<Bool?>(nil)
    let thread = Thread {
      let isOpen = (try? Database(at: path)) != nil
      opened.withLock { $0 = isOpen }
    }
    thread.start()
    usleep(50_000)
    try first.script("COMMIT", to: "test")
    for _ in 0..<500 where opened.withLock({ $0 }) == nil { usleep(10_000) }
    #expect(opened.withLock { $0 } == true)
  }

  @Test("a copy on a full disk fails as such, so that room can be made")
  func fullCopy() throws {
    let database = try Database(at: path)
    try database.script("CREATE TABLE t (a INTEGER) STRICT", to: "test")
    let error = try #require(throws: SpoolError.self) { try database.copy(to: "/dev/full") }
    #expect(error.isFullDisk, "\(error)")
  }

  private func failure(of sql: String, in database: inout Database) -> SpoolError? {
    do throws(SpoolError) {
      _ = try database.run(sql, to: "test")
      return nil
    } catch {
      return error
    }
  }
}
