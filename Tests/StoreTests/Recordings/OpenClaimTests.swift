import Platform
import TestSupport
import Testing

@testable import Store

@Suite("Open claims are a column")
struct OpenClaimTests {
  private static let insert = """
    INSERT INTO notes (key, pipeline, inbox, file_name, digest, byte_count, received_at, ack_name,
      tags, state, reason, attempts, changed_at, state_since, conflict, revision, acknowledged)
    VALUES
      ('a', 'p', '/in', 'a', 'd1', 1, 1, 'a', '[]', 'uploaded',
        'it claims to be c with other bytes', 0, 1, 1, 'c', 1, 0),
      ('b', 'p', '/in', 'b', 'd2', 1, 1, 'b', '[]', 'uploaded', 'released', 0, 1, 1, 'c', 1, 0),
      ('c', 'p', '/in', 'c', 'd3', 1, 1, 'c', '[]', 'uploaded', NULL, 0, 1, 1, NULL, 1, 0);
    """
  private static let expected: [[SQLValue]] = [
    [.text("a"), .integer(1)], [.text("b"), .integer(0)], [.text("c"), .integer(0)],
  ]

  private func states(in database: inout Database) throws -> [[SQLValue]] {
    try database.run("SELECT key, is_claim_open FROM notes ORDER BY key", to: "test")
  }

  @Test("an older database's claims are found by their reasons")
  func migrated() throws {
    let scratch = try ScratchFolder()
    var database = try Database(at: scratch.file("spool.sqlite"))
    let steps = Schema.current.steps
    let older = try #require(steps.firstIndex(of: Schema.openClaims))
    try Schema(steps: Array(steps[..<older])).migrate(&database, at: "spool.sqlite")
    try database.script(Self.insert, to: "test")
    try Schema.current.migrate(&database, at: "spool.sqlite")
    #expect(try states(in: &database) == Self.expected)
  }

  @Test("rows of an older change log give their claims back")
  func replayed() throws {
    let scratch = try ScratchFolder()
    var older = try Database(at: scratch.file("older.sqlite"))
    let steps = Schema.current.steps
    let count = try #require(steps.firstIndex(of: Schema.openClaims))
    try Schema(steps: Array(steps[..<count])).migrate(&older, at: "older.sqlite")
    try older.script(Self.insert, to: "test")
    var database = try Database(at: scratch.file("spool.sqlite"))
    try Schema.current.migrate(&database, at: "spool.sqlite")
    for key in ["a", "b", "c"] {
      let line = try OldStore.line(ofRecording: key, number: 1, in: &older)
      #expect(try OldLine.lines(in: Array(line.utf8)).first?.adopt(into: &database) == true)
    }
    #expect(try states(in: &database) == Self.expected)
  }
}
