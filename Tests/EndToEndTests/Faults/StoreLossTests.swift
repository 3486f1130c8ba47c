import Foundation
import TestSupport
import Testing

/// Rows and files of the store that are lost behind the program's back.
@Suite("What a store has lost is put right, or said to be lost")
struct StoreLossTests: LogTrial {
  let place: Workspace
  let pipeline: String

  init() throws { (place, pipeline) = try Self.make() }

  @Test(
    "the one row of a table",
    arguments: ["ledger", "receipt_log", "receipt_head", "epochs"])
  func oneRow(table: String) throws {
    try run(["a", "b"])
    try tamper("DELETE FROM \(table)")
    #expect(try place.spool(["store", "check"]).exitCode == 4)
    let repaired = try place.spool(["store", "repair"])
    #expect(repaired.exitCode == 0, "\(repaired.text) \(repaired.errorOutput)")
    #expect(
      repaired.text.hasSuffix("repaired; spool store check looks again\n"), "\(repaired.text)")
    let check = try place.spool(["store", "check"])
    #expect(check.exitCode == 0 && check.text.contains("2 receipts"), "\(check.text)")
    try run(["c"])
  }

  @Test("records that were lost with the database are told by status and restore, until a repair")
  func lostDatabase() throws {
    let place = try Workspace()
    let quick = try place.quickPipeline()
    let backup = place.file("backup")
    for name in ["a", "b"] {
      let note = place.file("\(name).wav")
      try Reference.record(note, seconds: name == "a" ? 0.3 : 0.4)
      #expect(try place.run(quick, [note]).exitCode == 0)
      if name == "a" { #expect(try place.spool(["store", "backup", backup]).exitCode == 0) }
    }
    for name in Workspace.names(in: place.store)
    where ["spool.sqlite", "changes-", "backups"].contains(where: name.hasPrefix) {
      try FileManager.default.removeItem(atPath: place.store + "/" + name)
    }
    func status() throws -> Program.Result { try place.spool(["status", "--check"]) }
    for _ in 0..<2 {
      let found = try status()
      #expect(found.exitCode == 1)
      #expect(
        found.text.hasPrefix("records were lost with the database and its change log: "),
        "\(found.text)")
      #expect(found.text.contains("next:  spool store check\n"), "\(found.text)")
      #expect(!found.text.contains("nothing was run"), "\(found.text)")
    }
    let json = try place.spool(["status", "--json"]).text
    #expect(json.contains("\"needsAction\":true") && json.contains("\"lostRecords\":"), "\(json)")
    // What was done since the backup is not in it.
    let restored = try place.spool(["store", "restore", backup])
    #expect(restored.exitCode == 0)
    #expect(restored.errorOutput.contains("no record in this backup"), "\(restored.errorOutput)")
    #expect(restored.errorOutput.contains("spool store repair"), "\(restored.errorOutput)")
    #expect(try place.spool(["store", "check"]).exitCode == 4)
    #expect(try status().exitCode == 1)
    let again = try place.spool(["store", "restore", backup, "--json"])
    #expect(again.text.contains("\"unrecordedFiles\":"), "\(again.text)")
    #expect(try place.spool(["store", "repair"]).exitCode == 0)
    #expect(try place.spool(["store", "check"]).exitCode == 0)
    #expect(try status().exitCode == 0)
  }

  @Test("receipts of which nothing is left are not said to be repaired")
  func lostLedger() throws {
    try run(["a", "b"])
    try tamper("DELETE FROM receipts; DELETE FROM receipt_head")
    for name in ["receipts.log", "receipts.head.json"] {
      try FileManager.default.removeItem(atPath: place.store + "/" + name)
    }
    #expect(try place.spool(["store", "check"]).exitCode == 4)
    let repaired = try place.spool(["store", "repair"])
    #expect(repaired.exitCode == 4 && !repaired.text.contains("repaired;"), "\(repaired.text)")
    #expect(try place.spool(["store", "check"]).exitCode == 4)
  }

  @Test("receipts of an unknown key are not called changed, and a lost key is missed")
  func lostKey() throws {
    try run(["a", "b"])
    let unknown = try place.spool(["verify", place.out, "--keys", place.file("none")])
    #expect(unknown.exitCode == 4)
    #expect(unknown.text.contains("2 signed with a key that is not known here"), "\(unknown.text)")
    #expect(!unknown.text.contains("not as they were signed"), "\(unknown.text)")
    try FileManager.default.removeItem(atPath: place.file("keys/signing.pem"))
    let note = place.file("c.wav")
    try Reference.record(note, seconds: 0.3)
    let result = try place.spool(["run", pipeline, note, "--out", place.out])
    #expect(result.errorOutput.contains("a new signing key was made"), "\(result.errorOutput)")
    let again = try place.spool(["run", pipeline, note, "--out", place.out])
    #expect(!again.errorOutput.contains("a new signing key"), "\(again.errorOutput)")
  }

  @Test("a restore without the keys says that they are missing, and speaks of no change")
  func restoredWithoutKeys() throws {
    try run(["a", "b"])
    let backup = place.file("backup")
    #expect(try place.spool(["store", "backup", backup]).exitCode == 0)
    let keys = place.file("none")
    let other = ["--store", place.file("other"), "--keys", keys]
    let restored = try place.spool(["store", "restore", backup] + other)
    #expect(restored.exitCode == 0 && restored.text.hasPrefix("restored from "))
    #expect(
      restored.errorOutput.hasPrefix(
        "note: the ledger of receipts is signed with a key that is not in \(keys), "),
      "\(restored.errorOutput)")
    #expect(
      restored.errorOutput.contains("\nhelp:  copy the folder of the keys there from the computer"),
      "\(restored.errorOutput)")
    #expect(!restored.errorOutput.contains("changed"), "\(restored.errorOutput)")
    let json = try place.spool(["store", "restore", backup, "--json"] + other)
    #expect(json.text.contains("\"ledger\":") && json.text.contains("\"advice\":"), "\(json.text)")
    // With the keys, nothing is left to say, and a change is still called one.
    let known = try place.spool(["store", "restore", backup, "--store", place.file("third")])
    #expect(known.exitCode == 0 && known.errorOutput == "", "\(known.errorOutput)")
  }

  @Test(
    "a backup in a store's place is called that, with what to type, whatever the command",
    arguments: [
      ["store", "info"], ["store", "check"], ["store", "gc"], ["runs"], ["status"], ["run"],
    ])
  func backupAsStore(command: [String]) throws {
    try run(["a"])
    let backup = place.file("backup")
    #expect(try place.spool(["store", "backup", backup]).exitCode == 0)
    let before = try Data(contentsOf: URL(fileURLWithPath: backup))
    let inputs = command == ["run"] ? [pipeline, place.file("a.wav"), "--out", place.out] : []
    func told(_ file: String) throws -> Complaint {
      let result = try place.spool(command + inputs + ["--store", file])
      #expect(result.exitCode == 2, "\(result.errorOutput)")
      return try #require(Complaint(result.errorOutput), "\(result.errorOutput)")
    }
    let complaint = try told(backup)
    #expect(complaint.what == "\(backup) is a file, and no store", "\(complaint)")
    #expect(complaint.why.contains("it is a backup of a store"), "\(complaint)")
    #expect(
      complaint.next.contains("spool store restore \(backup) --store DIR"), "\(complaint)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: backup)) == before)
    let other = try place.folder.write("no backup", to: "text")
    #expect(try told(other).why == "a store is a folder")
  }

  @Test("exports since the backup are known after a restore, though the change log is lost")
  func restored() throws {
    let quick = try place.quickPipeline(formats: "wav")
    let note = place.file("note.wav")
    try Reference.record(note, seconds: 0.3)
    try #require(try place.run(pipeline, [note], ["--out", place.file("other")]).exitCode == 0)
    try #require(try place.spool(["store", "backup"]).exitCode == 0)
    try #require(try place.run(quick, [note]).exitCode == 0)
    for name in Workspace.names(in: place.store) where name.hasPrefix("changes-") {
      try FileManager.default.removeItem(atPath: place.store + "/" + name)
    }
    let restore = try place.spool(["store", "restore"])
    try #require(restore.exitCode == 0)
    #expect(restore.errorOutput.contains("no record in this backup"), "\(restore.errorOutput)")
    let louder = try String(contentsOfFile: quick, encoding: .utf8)
      .replacing("  - export", with: "  - gain: { gain: -2 dB }\n  - export")
    let again = try place.run(try place.pipeline(louder, named: "quick.yaml"), [note])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(try place.spool(["store", "repair"]).exitCode == 0)
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("half of a database that is lost is no failing disk: it is made again")
  func halfDatabase() throws {
    try run(["a"])
    #expect(try place.spool(["store", "backup"]).exitCode == 0)
    try run(["b"])
    let path = place.store + "/spool.sqlite"
    try tamper("PRAGMA wal_checkpoint(TRUNCATE)")
    var bytes = try Data(contentsOf: URL(filePath: path))
    bytes.replaceSubrange((bytes.count / 2)..., with: Data(count: bytes.count - bytes.count / 2))
    try bytes.write(to: URL(filePath: path))
    let status = try place.spool(["status"])
    #expect(
      status.exitCode == 0 && status.errorOutput.contains("was made again"), "\(status.errorOutput)"
    )
    #expect(try place.spool(["store", "check"]).exitCode == 0)
    #expect(try place.spool(["runs", "--json"]).text.split(separator: "\n").count == 2)
  }

  @Test("a backup after a restore has the receipts of the time between")
  func backupAfterRestore() throws {
    try run(["a"])
    #expect(try place.spool(["store", "backup"]).exitCode == 0)
    try run(["b", "c"])
    #expect(try place.spool(["store", "restore"]).exitCode == 0)
    let copy = place.file("copy.sqlite")
    let backup = try place.spool(["store", "backup", copy])
    #expect(backup.exitCode == 0 && !backup.errorOutput.contains("lacks"), "\(backup.errorOutput)")
    let other = ["--store", place.file("other")]
    #expect(try place.spool(["store", "restore", copy] + other).exitCode == 0)
    let ledger = try place.spool(["proof", "ledger"] + other)
    #expect(ledger.text.contains("3"), "\(ledger.text)")
    let verified = try place.spool(["verify", place.out] + other)
    #expect(verified.exitCode == 0, "\(verified.text)")
  }
}
