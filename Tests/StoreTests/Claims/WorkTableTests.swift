import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct WorkTableTests {
  private let scratch: ScratchFolder
  private let work = SHA256.digest(of: "work")

  init() throws { scratch = try ScratchFolder() }

  private func database() throws -> Database {
    let path = scratch.file("spool.sqlite")
    var database = try Database(at: path)
    try Schema.current.migrate(&database, at: path)
    return database
  }

  /// The entry and the epoch of a new claim.
  private func claim(
    _ work: Digest, in database: inout Database
  ) throws -> (entry: WorkEntry, epoch: Int64) {
    let entry = try #require(try WorkTable.entry(for: work, in: &database))
    let claimed = try #require(
      try WorkTable.claim(entry, summary: "", at: 2, in: &database))
    return (try #require(try WorkTable.entry(for: work, in: &database)), claimed.epoch)
  }

  @Test("work that is known stays as it is when it is made known again")
  func registering() throws {
    var database = try database()
    try WorkTable.register(work, at: 1, in: &database)
    let entry = try #require(try WorkTable.entry(for: work, in: &database))
    #expect(entry.owner == nil && entry.recording == nil && entry.claimedAt == 1)
    try WorkTable.register(work, at: 5, in: &database)
    #expect(try WorkTable.entry(for: work, in: &database) == entry)
    #expect(try WorkTable.entries(in: &database) == [entry])
  }

  @Test("a claim takes the work from the one before it, and keeps the note")
  func claiming() throws {
    var database = try database()
    try WorkTable.register(work, at: 1, in: &database)
    let first = try claim(work, in: &database)
    #expect(first.entry.owner == .current && first.entry.claimedAt == 2)
    #expect(try WorkTable.record("a", of: work, epoch: first.epoch, at: 3, in: &database))
    let second = try claim(work, in: &database)
    #expect(second.epoch > first.epoch && second.entry.generation == first.entry.generation)
    #expect(second.entry.recording == JournalEntry(text: "a", notedAt: 3))
    #expect(try !WorkTable.record("b", of: work, epoch: first.epoch, at: 4, in: &database))
    #expect(try WorkTable.entry(for: work, in: &database) == second.entry)
  }

  @Test("a note in which a bit was flipped is none, wherever it was")
  func flippedNote() throws {
    var database = try database()
    try WorkTable.register(work, at: 1, in: &database)
    let claim = try claim(work, in: &database)
    #expect(try WorkTable.record("ab", of: work, epoch: claim.epoch, at: 3, in: &database))
    let stored = try #require(
      try database.run("SELECT note FROM work", to: "read")[0][0].text)
    for index in stored.utf8.indices {
      var bytes = Array(stored.utf8)
      bytes[stored.utf8.distance(from: stored.startIndex, to: index)] ^= 1
      try database.run(
        "UPDATE work SET note = ?", [.text(String(decoding: bytes, as: UTF8.self))], to: "flip")
      #expect(try WorkTable.entry(for: work, in: &database)?.recording == nil, "at \(index)")
    }
  }

  @Test("from the moment that work is begun anew, the frozen claim counts no more")
  func beginningAnew() throws {
    var database = try database()
    try WorkTable.register(work, at: 1, in: &database)
    let frozen = try claim(work, in: &database)
    #expect(try WorkTable.record("a", of: work, epoch: frozen.epoch, at: 3, in: &database))
    try WorkTable.beginAnew(frozen.entry, at: 4, in: &database)
    #expect(try !WorkTable.holds(work, epoch: frozen.epoch, in: &database))
    #expect(try !WorkTable.record("b", of: work, epoch: frozen.epoch, at: 5, in: &database))
    #expect(try WorkTable.claim(frozen.entry, summary: "", at: 5, in: &database) == nil)
    let anew = try #require(try WorkTable.entry(for: work, in: &database))
    #expect(anew.generation > frozen.entry.generation && anew.recording == nil && anew.owner == nil)
    // Somebody else had seen the same frozen process, and came later.
    try WorkTable.beginAnew(frozen.entry, at: 6, in: &database)
    #expect(try WorkTable.entry(for: work, in: &database) == anew)
  }

  @Test("work that ended and was begun again is not taken for what it was")
  func endingAndBeginning() throws {
    var database = try database()
    try WorkTable.register(work, at: 1, in: &database)
    let first = try claim(work, in: &database)
    try WorkTable.remove(work, epoch: first.epoch - 1, in: &database)
    #expect(try WorkTable.entry(for: work, in: &database) != nil)
    try WorkTable.remove(work, epoch: first.epoch, in: &database)
    #expect(try WorkTable.entry(for: work, in: &database) == nil)
    #expect(try !WorkTable.record("a", of: work, epoch: first.epoch, at: 3, in: &database))
    try WorkTable.register(work, at: 4, in: &database)
    let second = try claim(work, in: &database)
    #expect(second.epoch > first.epoch && second.entry.generation > first.entry.generation)
    #expect(try !WorkTable.record("a", of: work, epoch: first.epoch, at: 5, in: &database))
  }
}
