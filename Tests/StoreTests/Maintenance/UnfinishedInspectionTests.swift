import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

/// A check also looks at what work under way has left to go on from.
@Suite struct UnfinishedInspectionTests {
  private let sample: StoreSample
  private let work = SHA256.digest(of: "work")

  private struct Recording: Codable {
    let listeners: [Listener]
  }
  private struct Listener: Codable {
    let needsFrom: Int
    let state: String
  }

  /// A store with a piece of work that was left after 4000 bytes of its file had been noted.
  init() throws {
    sample = try StoreSample()
    let bytes = Array(String(repeating: "work", count: 1000).utf8)
    let prefix = DraftPrefix(byteCount: bytes.count, digest: SHA256.digest(of: bytes))
    let state = String(decoding: try JSONEncoder().encode(prefix), as: UTF8.self)
    let recording = Recording(listeners: [Listener(needsFrom: 1000, state: state)])
    let store = try DiskStore(at: sample.path)
    guard case .granted(let claim) = try store.claim(work, summary: "eq") else {
      throw CocoaError(.fileLocking)
    }
    let draft = try claim.makeDraft("sound", .sound)
    try draft.append(bytes)
    try draft.append(Array("more".utf8))
    try draft.flush()
    try claim.record(String(decoding: try JSONEncoder().encode(recording), as: UTF8.self))
    claim.release()
    // As if another process had done all this, and died.
    try store.withDatabase { (database) throws(SpoolError) in
      _ = try database.run(
        "UPDATE work SET owner = ?", [.text("00000000-1-1")], to: "test")
    }
  }

  private var folder: String {
    get throws {
      let all = StoreLayout(root: sample.path).work
      return try #require(names(in: all).first.map { "\(all)/\($0)" })
    }
  }

  @Test("work that can be gone on with is counted, and sound")
  func sound() throws {
    let report = try sample.inspect()
    #expect(report.findings == [] && report.unfinished == 1)
  }

  @Test("a file that was cut short, damaged or lost is found, and repair lets the work begin anew")
  func damaged() throws {
    for change in 0..<3 {
      let other = try UnfinishedInspectionTests()
      let file = try other.folder + "/sound"
      switch change {
      case 0: #expect(unsafe truncate(file, 3999) == 0)
      case 1: try flipBit(3, ofByte: 2000, in: file)
      default: try FileManager.default.removeItem(atPath: file)
      }
      let found = try other.sample.damage()
      #expect(found.map(\.kind) == [.damagedWork], "\(change)")
      #expect(found.first?.problem.contains("4000 bytes") == true, "\(found)")
      _ = try Repair(of: other.sample.path).run()
      #expect(try other.sample.inspect().findings == [], "\(change)")
      let claim = try DiskStore(at: other.sample.path).granted(other.work)
      #expect(try claim.lastEntry() == nil)
    }
  }

  @Test("work without its folder, as behind a restored backup, is no damage, and begins anew")
  func restored() throws {
    let file = sample.scratch.file("backup.sqlite")
    do { try DiskStore(at: sample.path).backUp(to: file, isReplacing: false) }
    let path = sample.scratch.file("restored")
    _ = try DiskStore.restore(path, from: file)
    let found = try Inspection(of: path, Inspection.Options()).run().findings
    #expect(found.filter(\.isDamage) == [])
    let remark = try #require(found.first { $0.kind == .missingWork }, "\(found)")
    #expect(remark.meaning.contains("begun anew") && remark.advice == nil)
    guard case .granted(let claim) = try DiskStore(at: path).claim(work, summary: "eq") else {
      throw CocoaError(.fileLocking)
    }
    claim.end()
    #expect(try Inspection(of: path, Inspection.Options()).run().unfinished == 0)
  }

  @Test("what lies behind the noted bytes, or is damaged there, is nobody's loss")
  func behind() throws {
    try flipBit(3, ofByte: 4001, in: try folder + "/sound")
    #expect(try sample.inspect().findings == [])
  }

  @Test("a note that is not what was written is found, and repaired")
  func damagedNote() throws {
    do {
      let database = try Database(at: sample.database)
      try database.script(
        "UPDATE work SET note = replace(note, 'needsFrom', 'needsFrum')", to: "test")
    }
    #expect(try sample.damage().map(\.kind) == [.damagedNote])
    _ = try Repair(of: sample.path).run()
    #expect(try sample.inspect().findings == [])
  }

  @Test("whoever knows what a file holds has a say")
  func hook() throws {
    var options = Inspection.Options()
    options.workFault = { folder, recordings in
      recordings.contains { $0.contains("byteCount") }
        ? ("\(folder)/sound", "it is out of tune") : nil
    }
    let found = try Inspection(of: sample.path, options).run().findings
    #expect(found.map(\.problem) == ["it is out of tune"])
  }
}
