import Foundation
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// Everything that a store can lose, one after the other: each table, each row, each file.
@Suite("A repair says that a store is repaired if, and only if, a check finds it sound")
struct RepairSweepTests {
  /// Rows of a table that are deleted, each by itself.
  private static let rowLimit = 6

  private let sample: StoreSample
  private let scratch: ScratchFolder
  /// A copy of the whole store.
  private let original: String
  private let tables: [String]

  init() throws {
    sample = try StoreSample()
    scratch = try ScratchFolder()
    original = scratch.file("store")
    do { try Self.fill(try DiskStore(at: sample.path), sample) }
    try FileManager.default.copyItem(atPath: sample.path, toPath: original)
    var database = try Database(at: sample.database)
    tables = try database.run(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name",
      to: "test"
    ).compactMap { $0[0].text }
  }

  /// Adds what the sample lacks: recordings, receipts, corrections, stamps, batches, deliveries, pins,
  /// unfinished work.
  private static func fill(_ store: DiskStore, _ sample: StoreSample) throws {
    let note = try sample.scratch.write("a note", to: "a.wav")
    let artifact = try store.makeArtifact("a note", kind: .sound)
    var arrival = RecordingArrival(
      pipeline: "voice", inbox: "/inbox", path: "a.wav",
      stamp: RecordingFileStamp(inode: 1, byteCount: 5, modified: 7, changed: 8), fileName: "a.wav",
      recording: artifact)
    arrival.deviceID = "device-1"
    let recording = try store.recordings.admit(arrival, conflicts: .quarantine).recording
    _ = try store.recordings.change(recording.key, .begin)
    try store.corrections.add(
      StoredCorrection(
        author: "ada", time: "2026-01-01T12:00:00Z", transcript: SHA256.digest(of: "words"),
        changes: "[1]"), to: [artifact.digest], after: 0)
    try store.stamps.add([
      AwaitedStamp(
        receipt: SHA256.digest(of: "receipt"), path: "/out/a.receipt.json",
        authority: TimeStampAuthority(url: "http://a/tsr", certificates: "/a.pem"), token: "/out/a",
        since: 100)
    ])
    try store.receipts.update(adding: SHA256.digest(of: "leaf"), at: "/out/a", knowing: nil) {
      growth in
      let head = ReceiptHead(size: 1, root: SHA256.digest(of: "root"), text: "{}\n")
      return growth.entry.map { ReceiptUpdate([$0], under: head) }
    }
    try store.batches.remember(
      BatchEntry(
        path: "a.wav", recording: try store.digest(ofFile: note), sidecar: nil,
        settings: SHA256.digest(of: "settings"), name: "a", state: .done, mediaSeconds: 1,
        report: "{}"), of: SHA256.digest(of: "batch"), exports: [sample.export],
      artifacts: [artifact.digest])
    try store.deliveries.add(
      [
        DeliveryQueue.Order(
          QueuedDelivery.File(
            name: "a.wav", .exports, digest: artifact.digest, byteCount: artifact.byteCount,
            recording: artifact.digest, path: "/out/a.wav", facts: [:]),
          to: "nas", at: "a.wav", encounter: .same, isRequired: true)
      ], for: .recording(recording.key))
    try store.deliveries.pause("nas", true)
    try store.inboxes.remember(watch: "spool watch", ofInbox: "/inbox")
    try store.inboxes.remember(mountPoint: "/", ofFolder: "/inbox")
    _ = try store.runs.pin(sample.run.id.name)
    let claim = try store.granted(SHA256.digest(of: "work"))
    try claim.record("{}")
    claim.release()
    _ = try store.backUp()
  }

  private func reset() throws {
    let files = FileManager.default
    if files.fileExists(atPath: sample.path) { try files.removeItem(atPath: sample.path) }
    try files.copyItem(atPath: original, toPath: sample.path)
  }

  /// Repairs, and compares what it says with what a check says.
  private func expectHonesty(after loss: String) throws {
    let before = try? sample.damage()
    let report: RepairReport
    do { report = try Repair(of: sample.path).run() } catch {
      Issue.record("\(loss): repair failed: \(error)")
      return
    }
    let after = try sample.damage()
    #expect(report.remaining == after, "\(loss): \(report.remaining) \(after)")
    #expect(after.allSatisfy { !$0.isRepairable }, "\(loss): \(after)")
    #expect(before?.isEmpty != true || after.isEmpty, "\(loss): \(after)")
    #expect(try Repair(of: sample.path).run().actions == [], "\(loss): it repairs for ever")
    // Work goes on in it.
    let store = try DiskStore(at: sample.path)
    _ = try store.granted(SHA256.digest(of: "more work"))
    try store.runs.save(sample.run)
    #expect(try sample.damage() == after, "\(loss): damaged by the next use")
  }

  @Test("each table") func lostTables() throws {
    #expect(tables.count > 20)
    for table in tables {
      try reset()
      do {
        let database = try Database(at: sample.database)
        try database.script("PRAGMA foreign_keys = OFF; DROP TABLE \(table)", to: "test")
      }
      try expectHonesty(after: "table \(table)")
    }
  }

  @Test("each row of each table") func lostRows() throws {
    var emptyTables: [String] = []
    for table in tables {
      try reset()
      var keys: [String] = []
      do {
        var database = try Database(at: sample.database)
        let columns = try TableColumns(of: table, in: &database)
        for row in try columns.rows(limit: Self.rowLimit, in: &database) {
          let matches = zip(columns.names, row).map { name, value in
            switch value {
            case .null: "\(name) IS NULL"
            case .integer(let integer): "\(name) = \(integer)"
            case .real(let real): "\(name) = \(real)"
            case .text(let text): "\(name) = '\(text.replacing("'", with: "''"))'"
            }
          }
          keys.append(matches.joined(separator: " AND "))
        }
      }
      if keys.isEmpty { emptyTables.append(table) }
      for key in keys {
        try reset()
        do {
          let database = try Database(at: sample.database)
          try database.script(
            "PRAGMA foreign_keys = OFF; DELETE FROM \(table) WHERE \(key)", to: "test")
        }
        try expectHonesty(after: "row of \(table): \(key.prefix(60))")
      }
    }
    #expect(emptyTables.count < 8, "the store holds something of almost everything: \(emptyTables)")
  }

  @Test("each file, gone or cut short", arguments: [true, false]) func lostFiles(isGone: Bool)
    throws
  {
    let files = sample.files(in: ".")
    #expect(files.count > 10)
    for file in files {
      try reset()
      if isGone {
        try FileManager.default.removeItem(atPath: file)
      } else {
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let half = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try half.truncate(atOffset: try half.seekToEnd() / 2)
        try half.close()
      }
      try expectHonesty(after: "\(isGone ? "gone" : "cut"): \(file.dropFirst(sample.path.count))")
    }
  }
}
