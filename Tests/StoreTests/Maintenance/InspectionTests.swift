import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct InspectionTests {
  private let sample: StoreSample

  init() throws { sample = try StoreSample() }

  @Test("a store as it was written is sound, and is looked at as a whole")
  func sound() throws {
    let report = try sample.inspect()
    #expect(report.findings == [])
    #expect(report.isSound && report.isThorough)
    #expect(report.artifacts == 3 && report.checkpoints == 3 && report.runs == 1)
    #expect(report.exports == 1 && report.backups == 1)
    #expect(report.artifactBytes == 10_000 + 11 + 4000)
  }

  @Test("looking changes nothing")
  func changesNothing() throws {
    func listing() throws -> [String: String] {
      // SQLite's own files come and go with every reader.
      try Workspace.listing(of: sample.path).filter { !$0.key.contains("spool.sqlite-") }
    }
    try flipBit(0, ofByte: 3, in: sample.artifact(0))
    let before = try listing()
    #expect(try !sample.inspect().isSound)
    #expect(try listing() == before)
  }

  @Test("a flipped bit anywhere in an artifact is found", arguments: [0, 1, 2])
  func artifactBits(index: Int) throws {
    let path = try sample.artifact(index)
    let count = try Data(contentsOf: URL(fileURLWithPath: path)).count
    for offset in [0, count / 2, count - 1] {
      try flipBit(offset % 8, ofByte: offset, in: path)
      let found = try sample.damage()
      #expect(found.map(\.kind) == [.damagedArtifact] && found.first?.path == path)
      #expect(found.first?.advice == "spool store repair")
      try flipBit(offset % 8, ofByte: offset, in: path)
      #expect(try sample.damage() == [])
    }
    #expect(try sample.inspect(isQuick: true).isSound)
  }

  @Test("a wrong length is found even by a quick look")
  func length() throws {
    let path = try sample.artifact(2)
    _ = unsafe chmod(path, 0o644)
    #expect(unsafe truncate(path, 3999) == 0)
    let found = try sample.inspect(isQuick: true).findings
    #expect(found.map(\.kind) == [.damagedArtifact])
    #expect(found.first?.problem == "it has 3999 bytes instead of 4000")
  }

  @Test("an artifact that is gone is found, and so is one that has no business there")
  func missing() throws {
    try FileManager.default.removeItem(atPath: sample.artifact(1))
    try Data("x".utf8).write(to: URL(fileURLWithPath: sample.path + "/artifacts/stray"))
    let report = try sample.inspect(isQuick: true)
    #expect(Set(report.findings.map(\.kind)) == [.missingArtifact, .strayFile])
    #expect(!report.isSound)
  }

  @Test("a flipped bit anywhere in the change log is found")
  func logBits() throws {
    let whole = try Data(contentsOf: URL(fileURLWithPath: sample.log))
    let files = FileOperations.system
    let log = ChangeLog(
      layout: StoreLayout(root: sample.path),
      drafts: DraftFolder(path: sample.path + "/drafts", files: files), files: files)
    for offset in whole.indices {
      try flipBit(offset % 8, ofByte: offset, in: sample.log)
      #expect(!log.isIntact(1), "byte \(offset)")
      try whole.write(to: URL(fileURLWithPath: sample.log))
    }
    try flipBit(1, ofByte: whole.count / 2, in: sample.log)
    let found = try sample.damage()
    #expect(found.map(\.kind) == [.damagedRecord] && found.first?.path == sample.log)
    try whole.write(to: URL(fileURLWithPath: sample.log))
    #expect(try sample.inspect().findings == [])
  }

  /// Structure is checked by SQLite; what the rows say, by the change log.
  @Test("a flipped bit in the database is found, or changes nothing that was recorded")
  func databaseBits() throws {
    let count = try Data(contentsOf: URL(fileURLWithPath: sample.database)).count
    var foundCount = 0
    for offset in stride(from: 0, to: count, by: 211) {
      try flipBit(offset % 8, ofByte: offset, in: sample.database)
      defer { try? flipBit(offset % 8, ofByte: offset, in: sample.database) }
      // A version that is not known is refused: that is found too.
      guard let found = try? sample.damage(), found.isEmpty else {
        foundCount += 1
        continue
      }
      var database = try Database(at: sample.database, for: .reading)
      for checkpoint in sample.checkpoints {
        let read = try CheckpointTable.checkpoint(for: checkpoint.key, in: &database)
        #expect(read == checkpoint, "byte \(offset)")
      }
    }
    #expect(foundCount > 3)
  }

  @Test("a changed row is told from what the log says")
  func contradiction() throws {
    do {
      var database = try Database(at: sample.database)
      try database.run(
        "UPDATE outputs SET identity = replace(identity, substr(identity, 1, 1), 'f')", to: "test")
      try database.run("UPDATE runs SET record = replace(record, 'done', 'failed')", to: "test")
    }
    let kinds = Set(try sample.damage().map(\.kind))
    #expect(kinds.contains(.contradiction) && kinds.contains(.unreadableRun))
  }

  @Test("a key that is not that of its components is found")
  func wrongKey() throws {
    do {
      var database = try Database(at: sample.database)
      try database.run(
        "UPDATE checkpoints SET components = replace(components, '1.0', '1.1') WHERE kind = 'export'",
        to: "test")
    }
    let found = try sample.damage()
    #expect(found.map(\.kind) == [.unreadableCheckpoint])
    #expect(found.first?.subject == sample.checkpoints[2].key.digest.hex)
  }

  @Test("an export that was changed or moved is a remark, and no damage")
  func exports() throws {
    try put("edited by hand", at: sample.export)
    #expect(try sample.inspect().findings.map(\.kind) == [.exportChanged])
    try FileManager.default.removeItem(atPath: sample.export)
    let report = try sample.inspect()
    #expect(report.findings.map(\.kind) == [.exportMissing] && report.isSound)
  }

  @Test("an export that was touched, copied or restored with the same bytes is as it was")
  func touchedExports() throws {
    let path = sample.scratch.file("out/own.wav")
    let digest = SHA256.digest(of: "as made")
    let store = try DiskStore(at: sample.path)
    _ = try store.publish(digest, at: path, isReplacing: false) {
      (temporary) throws(SpoolError) in try put("as made", at: temporary)
    }
    // The other one has other bytes than its artifact, as with tags, and its run knows them.
    var run = sample.run
    run.published = [
      PublishedFile(
        path: sample.export, byteCount: 8, step: StepID("export"), wasThere: false,
        digest: SHA256.digest(of: "exported"))
    ]
    try store.runs.save(run)
    for path in [path, sample.export] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      try FileManager.default.removeItem(atPath: path)
      try bytes.write(to: URL(fileURLWithPath: path))
    }
    #expect(try sample.inspect().findings == [])
    try put("as mode", at: path)
    #expect(try sample.inspect().findings.map(\.kind) == [.exportChanged])
    #expect(try sample.inspect(isQuick: true).findings == [], "a quick look reads no export")
  }

  @Test("what only one side knows is a remark")
  func oneSide() throws {
    do {
      var database = try Database(at: sample.database)
      try database.run("DELETE FROM checkpoints WHERE kind = 'export'", to: "test")
      try database.run("DELETE FROM runs", to: "test")
    }
    do {
      var database = try Database(at: sample.database)
      try database.run(
        """
        INSERT INTO batch_files (batch, path, settings, name, state, report)
        VALUES ('b', '/p', '', '', '', '')
        """, to: "test")
    }
    let report = try sample.inspect()
    #expect(report.isSound)
    #expect(
      report.findings.map(\.kind.rawValue).sorted() == [
        "onlyRecord", "onlyRecord", "withoutRecord",
      ])
    #expect(report.findings.allSatisfy { FileManager.default.fileExists(atPath: $0.path) })
  }

  @Test("a damaged backup is found")
  func backup() throws {
    let path = sample.path + "/backups/spool-1.sqlite"
    try put("not a database, but long enough to be looked at", at: path)
    #expect(try sample.damage().map(\.kind) == [.damagedBackup])
  }

  @Test("where there is no store, none is made")
  func noStore() throws {
    let folder = sample.scratch.file("nothing")
    let error = try #require(throws: SpoolError.self) { try Inspection(of: folder).run() }
    #expect(error.advice?.contains("--store") == true)
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test("a request to stop ends the reading")
  func stopping() throws {
    let stop = StopRequest()
    stop.request(signal: SIGINT)
    let error = try #require(throws: SpoolError.self) {
      try Inspection(of: sample.path, stop: stop).run()
    }
    #expect(error.reason == "it was stopped")
  }

  @Test("a file that cannot be read is named, with the disk's own words")
  func unreadable() throws {
    let path = try sample.artifact(0)
    let files = FileOperations { (operation) throws(SystemError) in
      if operation == .read(path) { throw SystemError(EIO) }
    }
    let found = try Inspection(of: sample.path, .init(), files: files).run().findings
    #expect(found.map(\.path) == [path])
    #expect(found.first?.problem == "it cannot be read: Input/output error")
  }
}
