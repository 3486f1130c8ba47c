import CSQLite
import Foundation
import Platform
@testable import Store
import TestSupport
import Testing

@Suite("Every page of a database, and every frame of its log, is verified when it is read")
struct PageChecksumTests {
  private let scratch: ScratchFolder
  private let path: String

  init() throws {
    scratch = try ScratchFolder()
    path = scratch.file("test.sqlite")
  }

  private static let tables = """
    CREATE TABLE words (id INTEGER PRIMARY KEY, word TEXT NOT NULL, more TEXT) STRICT;
    CREATE INDEX words_by_word ON words (word);
    CREATE TABLE names (name TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    """

  /// Makes tables with rows, also longer ones than a page, and some free pages.
  private func fill(_ database: inout Database, count: Int = 60) throws {
    try database.script(Self.tables, to: "test")
    try database.transaction(to: "test") { (database) throws(SpoolError) in
      for number in 0..<count {
        try database.run(
          "INSERT INTO words VALUES (?, ?, ?)",
          [
            .integer(Int64(number)), .text("word \(number * 7919 % 100)"),
            .text(String(repeating: "\(number) ", count: number % 20 == 0 ? 3000 : 20)),
          ], to: "test")
        try database.run(
          "INSERT INTO names VALUES (?, ?)", [.text("name \(number)"), .integer(Int64(number))],
          to: "test")
      }
    }
    try database.run("DELETE FROM words WHERE id = 20", to: "test")
  }

  /// All rows, by table and by index.
  private func rows(_ database: inout Database) throws(SpoolError) -> [[SQLRow]] {
    try [
      "SELECT * FROM words ORDER BY id", "SELECT word, id FROM words ORDER BY word, id",
      "SELECT * FROM names ORDER BY name",
    ].map { (sql) throws(SpoolError) in try database.run(sql, to: "test") }
  }

  private func rows(of path: String) throws(SpoolError) -> [[SQLRow]] {
    var database = try Database(at: path, for: .frozen)
    return try rows(&database)
  }

  /// Throws if a page of a closed database cannot be read: a copy reads them all.
  private func expectSoundPages(_ path: String) throws {
    let database = try Database(at: path, for: .frozen)
    let isSealed = database.hasPageChecksums
    #expect(isSealed)
    let copy = scratch.file("copy-\(UUID().uuidString)")
    try database.copy(to: copy)
    #expect(try rows(of: copy) == rows(of: path))
    var other = try Database(at: copy, for: .frozen)
    let isCopySealed = other.hasPageChecksums
    #expect(isCopySealed)
    #expect(try other.faults() == [])
  }

  @Test("any flipped bit of the file is found, or changes no row")
  func file() throws {
    let expected: [[SQLRow]]
    do {
      var database = try Database(at: path)
      try fill(&database)
      expected = try rows(&database)
    }
    let sound = try Data(contentsOf: URL(fileURLWithPath: path))
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    let isLong = ProcessInfo.processInfo.environment["SPOOL_LONG_TESTS"] != nil
    var random = SeededRandom(seed: 28)
    var found = 0
    var places: [(byte: Int, bit: Int)] = (0..<100).flatMap { byte in (0..<8).map { (byte, $0) } }
    var byte = 100
    while byte < sound.count {
      places.append((byte, Int.random(in: 0..<8, using: &random)))
      byte += isLong || byte < 4096 ? 1 : Int.random(in: 1...20, using: &random)
    }
    for (byte, bit) in places {
      try file.seek(toOffset: UInt64(byte))
      try file.write(contentsOf: [sound[byte] ^ 1 << UInt8(bit)])
      var left: [[SQLRow]]?
      do throws(SpoolError) {
        var database = try Database(at: path, for: .frozen)
        // The header may say that there are no checksums: the tables of a store say so once more.
        if database.hasPageChecksums { left = try rows(&database) }
      } catch {
        #expect(error.advice?.contains("spool store repair") == true, "\(error)")
      }
      if left == nil { found += 1 }
      #expect(left == nil || left == expected, "bit \(bit) of byte \(byte)")
      try file.seek(toOffset: UInt64(byte))
      try file.write(contentsOf: [sound[byte]])
    }
    // The rest lies in free pages.
    #expect(found > places.count / 2)
    #expect(try rows(of: path) == expected)
  }

  @Test("a page of zeros, and one in another's place, are found")
  func pages() throws {
    do {
      var database = try Database(at: path)
      try fill(&database)
    }
    let sound = try Data(contentsOf: URL(fileURLWithPath: path))
    for page in [1, 3] {
      for other in [Data(count: 4096), sound[4096 * 2..<4096 * 3]] {
        var damaged = sound
        damaged.replaceSubrange(4096 * page..<4096 * (page + 1), with: other)
        try damaged.write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: SpoolError.self) { _ = try rows(of: path) }
        #expect(error?.reason == Database.damagedPageWords && error?.kind == .broken)
      }
    }
  }

  @Test("any flipped bit of a log in use is found when it is read, and no checkpoint carries it on")
  func log() throws {
    var writer = try Database(at: path)
    try fill(&writer)
    let expected = try rows(&writer)
    let log = path + "-wal"
    let sound = try Data(contentsOf: URL(fileURLWithPath: log))
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: log))
    var random = SeededRandom(seed: 29)
    var found = 0
    let count = 600
    for _ in 0..<count {
      let byte = Int.random(in: 0..<sound.count, using: &random)
      try file.seek(toOffset: UInt64(byte))
      try file.write(contentsOf: [sound[byte] ^ 1 << UInt8.random(in: 0..<8, using: &random)])
      do throws(SpoolError) {
        var reader = try Database(at: path, for: .reading)
        #expect(try rows(&reader) == expected, "byte \(byte)")
      } catch {
        #expect(error.reason == Database.damagedPageWords, "\(error)")
        found += 1
      }
      try file.seek(toOffset: UInt64(byte))
      try file.write(contentsOf: [sound[byte]])
    }
    // Most frames are superseded by later ones of the same pages, or hold free pages.
    #expect(found > 0)
    try file.seek(toOffset: UInt64(sound.count - 2000))
    try file.write(contentsOf: [sound[sound.count - 2000] ^ 1])
    let error = #expect(throws: SpoolError.self) {
      try writer.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "write")
    }
    #expect(error?.reason == Database.damagedPageWords)
    try file.seek(toOffset: UInt64(sound.count - 2000))
    try file.write(contentsOf: [sound[sound.count - 2000]])
    try writer.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "write")
    #expect(try rows(&writer) == expected)
  }

  /// SQLite writes pages of a large transaction to the log before its end, and again in their place.
  @Test("transactions larger than the cache, undone parts and checkpoints raise no false alarm")
  func largeTransactions() throws {
    do {
      var database = try Database(at: path)
      var reader = try Database(at: path)
      try fill(&database, count: 200)
      try database.script("PRAGMA cache_size = 10", to: "test")
      try reader.script("PRAGMA cache_size = 10", to: "test")
      var random = SeededRandom(seed: 30)
      for round in 0..<12 {
        try database.script("BEGIN IMMEDIATE", to: "test")
        for step in 0..<40 {
          let id = Int64.random(in: 0..<200, using: &random)
          try database.script("SAVEPOINT step", to: "test")
          try database.run(
            "INSERT OR REPLACE INTO words VALUES (?, ?, ?)",
            [
              .integer(id), .text("\(round) \(step)"),
              .text(String(repeating: "x", count: Int.random(in: 0..<20000, using: &random))),
            ], to: "test")
          _ = try rows(&database)
          if step % 5 == 0 { try database.script("ROLLBACK TO step", to: "test") }
          try database.script("RELEASE step", to: "test")
        }
        try database.script(round % 3 == 0 ? "ROLLBACK" : "COMMIT", to: "test")
        #expect(try rows(&reader) == rows(&database))
        if round % 4 == 0 {
          try reader.run("PRAGMA wal_checkpoint(PASSIVE)", to: "test")
        }
      }
      // In use, with most of it in the log.
      try database.copy(to: scratch.file("backup"))
      #expect(try rows(of: scratch.file("backup")) == rows(&reader))
      try expectSoundPages(scratch.file("backup"))
    }
    try expectSoundPages(path)
  }

  @Test("a database without checksums stays as it is until it gets them, with the same rows")
  func older() throws {
    try makePlain(path)
    let expected = try rows(of: path)
    do {
      var database = try Database(at: path)
      try database.run("UPDATE names SET number = number + 1", to: "test")
      try database.run("PRAGMA wal_checkpoint(TRUNCATE)", to: "test")
      let isSealed = database.hasPageChecksums
      #expect(!isSealed)
      try database.run("UPDATE names SET number = number - 1", to: "test")
      try database.copy(to: scratch.file("plain"))
      #expect(try rows(of: scratch.file("plain")) == expected)
      #expect(try database.addPageChecksums(to: "test"))
      try database.run("UPDATE names SET number = number + 0", to: "test")
      #expect(try rows(&database) == expected)
    }
    try expectSoundPages(path)
    #expect(try rows(of: path) == expected)
  }

  /// A database as an earlier version made it: through SQLite's own files.
  private func makePlain(_ path: String) throws {
    var handle: OpaquePointer?
    defer { unsafe sqlite3_close(handle) }
    try #require(unsafe sqlite3_open(path, &handle) == SQLITE_OK)
    let fill = """
      PRAGMA journal_mode = WAL;
      \(Self.tables)
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO words SELECT i, 'word ' || i * 7919 % 100, hex(zeroblob(i * 20)) FROM n;
      INSERT INTO names SELECT 'name ' || id, id FROM words;
      DELETE FROM words WHERE id % 3 = 0;
      """
    try #require(unsafe sqlite3_exec(handle, fill, nil, nil, nil) == SQLITE_OK)
  }
}
