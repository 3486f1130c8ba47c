import Foundation
import Glibc
import PipelineModel
import Platform
@testable import Store
import TestSupport
import Testing

@Suite struct RepairTests {
  private let sample: StoreSample

  init() throws { sample = try StoreSample() }

  @Test("there is nothing to repair in a sound store")
  func sound() throws {
    let report = try Repair(of: sample.path).run()
    #expect(report.actions == [] && report.findings == [] && report.recovery == nil)
    #expect(try sample.remembersEverything())
  }

  @Test("a damaged artifact goes, and its checkpoint as far as it needs it")
  func artifacts() throws {
    for index in 0..<3 { try flipBit(2, ofByte: 5, in: sample.artifact(index)) }
    let plan = try Repair(of: sample.path, isDryRun: true).run()
    #expect(plan.actions.count == 3)
    #expect(try sample.damage().count == 3, "a dry run changed something")
    #expect(try Repair(of: sample.path).run().actions.count == 3)
    #expect(try sample.inspect().findings == [])
    let store = try DiskStore(at: sample.path)
    // Kept sound can be streamed again; the rest is made again.
    let decode = try #require(try store.checkpoint(for: sample.checkpoints[0].key))
    #expect(decode.outputs[.sound]?.artifact == nil)
    #expect(decode.outputs[.sound]?.identity == sample.checkpoints[0].outputs[.sound]?.identity)
    for checkpoint in sample.checkpoints[1...] {
      #expect(try store.checkpoint(for: checkpoint.key) == nil)
    }
    #expect(sample.files(in: "artifacts") == [])
  }

  @Test("a damaged file that nobody names goes too: its bytes may come by again")
  func unnamed() throws {
    let store = try DiskStore(at: sample.path)
    let path = try store.path(of: store.makeArtifact("nobody's"))
    try flipBit(0, ofByte: 0, in: path)
    do { _ = consume store }
    #expect(try Repair(of: sample.path).run().actions.map(\.path) == [path])
    let again = try DiskStore(at: sample.path)
    #expect(text(at: try again.path(of: again.makeArtifact("nobody's"))) == "nobody's")
  }

  @Test("rows that contradict the change log are taken from it")
  func rows() throws {
    do {
      var database = try Database(at: sample.database)
      try database.run("UPDATE outputs SET identity = lower(hex(zeroblob(32)))", to: "test")
      try database.run("UPDATE checkpoints SET components = 'x' WHERE kind = 'export'", to: "test")
      try database.run("UPDATE runs SET record = 'x'", to: "test")
    }
    #expect(try Repair(of: sample.path).run().actions.count == 4)
    #expect(try sample.inspect().findings == [])
    #expect(try sample.remembersEverything())
  }

  @Test(
    "the log is written again from the database, and rows are taken from it where they are lost")
  func log() throws {
    try flipBit(0, ofByte: 99, in: sample.log)
    try Repair(of: sample.path).run().actions.forEach { #expect($0.path == sample.log) }
    #expect(try sample.inspect().findings == [])
    #expect(try Repair(of: sample.path).run().actions.isEmpty)
    try FileManager.default.removeItem(atPath: sample.path + "/changes-2")
    #expect(try Repair(of: sample.path).run().actions.count == 1)
    #expect(try sample.inspect().findings == [])
    do {
      var database = try Database(at: sample.database)
      for table in ["checkpoints", "runs"] { try database.run("DELETE FROM \(table)", to: "test") }
    }
    #expect(try Repair(of: sample.path).run().actions.count == 4)
    #expect(try sample.remembersEverything())
    #expect(try sample.inspect().findings == [])
  }

  @Test("a lost database is made again from the log alone")
  func lostDatabase() throws {
    for name in ["spool.sqlite", "backups/spool-1.sqlite"] {
      try FileManager.default.removeItem(atPath: sample.path + "/" + name)
    }
    let plan = try Repair(of: sample.path, isDryRun: true).run()
    #expect(plan.actions.map(\.what) == ["make the database again"])
    #expect(!FileManager.default.fileExists(atPath: sample.database))
    let recovery = try #require(try Repair(of: sample.path).run().recovery)
    #expect(recovery.checkpoints == 3 && recovery.runs == 1 && recovery.slot == nil)
    #expect(recovery.keptAside == nil)
    #expect(try sample.remembersEverything())
  }

  @Test("what the log says of artifacts that are gone is not believed, but for kept sound")
  func lostArtifacts() throws {
    for name in ["spool.sqlite", "backups/spool-1.sqlite"] {
      try FileManager.default.removeItem(atPath: sample.path + "/" + name)
    }
    try FileManager.default.removeItem(atPath: sample.artifact(0))
    try FileManager.default.removeItem(atPath: sample.artifact(2))
    _ = try Repair(of: sample.path).run()
    let store = try DiskStore(at: sample.path)
    #expect(try store.checkpoint(for: sample.checkpoints[0].key)?.outputs.count == 1)
    #expect(try store.checkpoint(for: sample.checkpoints[1].key) == sample.checkpoints[1])
    #expect(try store.checkpoint(for: sample.checkpoints[2].key) == nil)
  }

  @Test("a store in which somebody works is not repaired, and it is said who that is")
  func inUse() throws {
    let store = try DiskStore(at: sample.path)
    let error = try #require(throws: SpoolError.self) { try Repair(of: sample.path).run() }
    #expect(error.why.contains("process \(getpid())"), "\(error)")
    do { _ = consume store }
    _ = try Repair(of: sample.path).run()
  }

  @Test("what a newer Spool wrote is not repaired")
  func newer() throws {
    do {
      let database = try Database(at: sample.database)
      try database.script("PRAGMA user_version = 999", to: "test")
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: sample.database))
    let error = try #require(throws: SpoolError.self) { try Repair(of: sample.path).run() }
    #expect(error.kind == .newer && error.message.contains("a newer Spool has upgraded"))
    #expect(throws: SpoolError.self) { try sample.inspect() }
    #expect(try Data(contentsOf: URL(fileURLWithPath: sample.database)) == before)
  }

  @Test(
    "a repair that fails at any call can be begun again, and ends well",
    arguments: [ENOSPC, EIO])
  func faults(code: CInt) throws {
    for number in 1... {
      let sample = try StoreSample()
      try put("no database", at: sample.database)
      try put("no backup", at: sample.path + "/backups/spool-1.sqlite")
      try flipBit(0, ofByte: 0, in: sample.artifact(0))
      try flipBit(0, ofByte: 0, in: sample.artifact(2))
      let end = Int(try FileStamp(at: sample.log).byteCount)
      try flipBit(0, ofByte: end - 1, in: sample.log)
      let probe = FileProbe(.once(number, code: code))
      _ = try? Repair(of: sample.path, files: probe.files).run()
      if probe.failures.isEmpty {
        #expect(number > 20)
        break
      }
      _ = try Repair(of: sample.path).run()
      #expect(try sample.inspect().findings.filter(\.isDamage) == [], "\(probe.failures)")
      #expect(damagedArtifacts(inStore: sample.path) == [])
      let store = try DiskStore(at: sample.path)
      let measure = sample.checkpoints[1]
      // Where the reading failed, it was taken for damaged, and is made again.
      if try store.checkpoint(for: measure.key) == nil {
        #expect(
          probe.failures.contains { if case .read = $0 { true } else { "\($0)".hasPrefix("open") } }
        )
      }
    }
  }
}
