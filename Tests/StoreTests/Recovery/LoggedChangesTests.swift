import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite("Every committed row is in the change log")
struct LoggedChangesTests {
  private let scratch: ScratchFolder
  private var path: String { scratch.file("store") }

  init() throws { scratch = try ScratchFolder() }

  /// All rows of all logged tables.
  private func rows(of store: DiskStore) throws -> [String: [SQLRow]] {
    try store.withDatabase { (database) throws(SpoolError) in
      var rows: [String: [SQLRow]] = [:]
      for table in ChangeLog.tables {
        rows[table] = try TableColumns(of: table, in: &database).rows(in: &database)
      }
      return rows
    }
  }

  private func loseDatabase() throws {
    for name in names(in: path) where name.hasPrefix("spool.sqlite") || name == "backups" {
      try FileManager.default.removeItem(atPath: path + "/" + name)
    }
  }

  @Test("random transactions come back from the log, row by row", arguments: 1...12 as ClosedRange)
  func random(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let artifact: Artifact
    let expected: [String: [SQLRow]]
    do {
      let store = try DiskStore(at: path)
      artifact = try store.makeArtifact("sound", kind: .sound)
      for step in 0..<60 {
        if step % 20 == 19, seed % 3 == 0 { _ = try store.backUp() }
        if step == 30, seed % 4 == 0 {
          try store.withDatabase { (database) throws(SpoolError) in
            try store.changeLog.renew(in: &database)
          }
        }
        try change(store, artifact, &random)
      }
      // A rebuilt database knows no running runs.
      try store.withDatabase { (database) throws(SpoolError) in
        try database.transaction(to: "test") { (database) throws(SpoolError) in
          try RunTable.cutOffAll(in: &database)
        }
      }
      expected = try rows(of: store)
    }
    #expect(expected["checkpoints"]?.isEmpty == false && expected["notes"]?.isEmpty == false)
    #expect(try Inspection(of: path).run().findings == [])
    try loseDatabase()
    let store = try DiskStore(at: path)
    #expect(store.recovery != nil)
    let found = try rows(of: store)
    for table in ChangeLog.tables { #expect(found[table] == expected[table], "\(table)") }
  }

  /// One transaction of any kind.
  private func change(
    _ store: DiskStore, _ artifact: Artifact, _ random: inout SeededRandom
  ) throws {
    let number = Int.random(in: 0..<12, using: &random)
    let name = "run-\(number)"
    var run = RunRecord(
      id: RunID(name), pipeline: "p", pipelinePath: "/p", inputs: [:], overrides: [:],
      startedAt: Double(number))
    switch Int.random(in: 0..<9, using: &random) {
    case 0, 1:
      let components = KeyComponents.sample("decode", "\(number)")
      let output = StepOutput(
        kind: .sound, identity: components.derivedIdentity(of: .sound),
        artifact: Int.random(in: 0..<2, using: &random) == 0 ? artifact : nil)
      try store.commit(
        Checkpoint(
          components: components, outputs: [.sound: output],
          memo: Int.random(in: 0..<2, using: &random) == 0 ? "{\"ä\":\"\(number)\"}" : nil))
    case 2: try store.runs.save(run)
    case 3:
      run.state = .done
      run.finishedAt = 2.5
      try store.runs.save(run)
    case 4: _ = try store.runs.pin(name)
    case 5: _ = try store.runs.unpin(name)
    case 6:
      let arrival = RecordingArrival(
        pipeline: "voice", inbox: "/inbox", path: "\(number).m4a",
        stamp: RecordingFileStamp(
          inode: UInt64(number), byteCount: 5, modified: 7, changed: 8),
        fileName: "\(number).m4a",
        recording: try store.makeArtifact("recording \(number)", kind: .sound))
      _ = try store.recordings.admit(arrival, conflicts: .quarantine)
    case 7:
      for recording in try store.recordings.matching(RecordingQuery()).prefix(1) {
        _ = try store.recordings.change(
          recording.key, .fail(reason: "busy", nextAttempt: nil, isCounted: true))
      }
    default:
      try store.withDatabase { (database) throws(SpoolError) in
        try database.transaction(to: "test") { (database) throws(SpoolError) in
          let key = KeyComponents.sample("decode", "\(number)").key
          try CheckpointTable.remove(key.digest.hex, from: &database)
        }
      }
    }
  }

  @Test("a statement of its own is logged like a transaction")
  func statement() throws {
    let expected: [String: [SQLRow]]
    do {
      let store = try DiskStore(at: path)
      try store.database.run(
        "INSERT INTO retracted (pipeline, name) VALUES ('p', 'a')", to: "test")
      try store.database.run("UPDATE retracted SET name = 'b'", to: "test")
      expected = try rows(of: store)
    }
    #expect(expected["retracted"] == [[.text("p"), .text("b")]])
    #expect(try Inspection(of: path).run().findings == [])
    try loseDatabase()
    #expect(try rows(of: DiskStore(at: path))["retracted"] == expected["retracted"])
  }

  @Test(
    "what one recording says in any script is the same in the log", arguments: ["a\0b", "ß漢🎧", ""])
  func text(_ text: String) throws {
    do {
      let store = try DiskStore(at: path)
      try store.commit(Checkpoint(components: .sample("eq", "1"), outputs: [:], memo: text))
    }
    try loseDatabase()
    let store = try DiskStore(at: path)
    #expect(try store.checkpoint(for: KeyComponents.sample("eq", "1").key)?.memo == text)
  }

  @Test("what could not be written to the log is not in the database either")
  func order() throws {
    let checkpoint = Checkpoint(components: .sample("eq", "1"), outputs: [:], memo: "{}")
    do { try DiskStore(at: path).commit(Checkpoint(components: .sample("eq", "0"), outputs: [:])) }
    for failing in ["write", "flush"] {
      let files = FileOperations { (operation) throws(SystemError) in
        let words = "\(operation)"
        if words.hasPrefix(failing + "("), words.contains("/changes-") { throw SystemError(ENOSPC) }
      }
      let store = try DiskStore(at: path, files: files)
      let error = try #require(throws: SpoolError.self) { try store.commit(checkpoint) }
      #expect(error.path == store.changeLog.path(1) && error.isFullDisk)
      #expect(try store.checkpoint(for: checkpoint.key) == nil, "\(failing)")
    }
    #expect(try Inspection(of: path).run().findings == [])
  }

  @Test("a log that cannot be opened for want of files is not taken for damaged")
  func exhausted() throws {
    do { try DiskStore(at: path).commit(Checkpoint(components: .sample("eq", "0"), outputs: [:])) }
    let log = path + "/changes-1"
    let files = FileOperations { (operation) throws(SystemError) in
      if operation == .open(log) { throw SystemError(EMFILE) }
    }
    #expect(throws: SpoolError.self) {
      try Inspection(of: path, Inspection.Options(), files: files).run()
    }
  }

  @Test("a process that dies at any call leaves a database and a log that agree")
  func death() throws {
    for number in 1... {
      let folder = scratch.file("store-\(number)")
      let probe = FileProbe(.deadFrom(number))
      if let store = try? DiskStore(at: folder, files: probe.files) {
        for name in ["1", "2", "3"] {
          try? store.commit(Checkpoint(components: .sample("eq", name), outputs: [:], memo: "{}"))
        }
      }
      let isOver = probe.failures.isEmpty
      do { _ = try DiskStore(at: folder) }
      #expect(try Inspection(of: folder).run().isSound, "\(probe.failures.first as Any)")
      if isOver { break }
    }
  }
}
