import Foundation
import Platform
@testable import Store
import TestSupport
import Testing

@Suite(
  "A store can be checked, repaired, freed, backed up and restored",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct StoreCareTests {
  private let place: Workspace
  private let note: String
  private let pipeline: String
  private let first: SpoolRun

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 1)
    pipeline = try place.quickPipeline()
    first = try place.run(pipeline, [note])
    try #require(first.exitCode == 0)
  }

  private struct Check: Decodable {
    struct Finding: Decodable {
      let kind: String
      let path: String
    }
    let sound: Bool
    let artifacts: Int
    let findings: [Finding]
  }

  private func check() throws -> Check {
    let result = try place.spool(["store", "check", "--json"])
    let check = try JSONDecoder().decode(Check.self, from: result.output)
    #expect(result.exitCode == (check.sound ? 0 : 4))
    return check
  }

  /// Flips a bit in the middle of an artifact of the export step. - Returns: where it lies.
  private func damageExport() throws -> String {
    let digest = try #require(first.step("export")?.outputs.values.compactMap(\.artifact).first)
      .digest
    let path = "\(place.store)/artifacts/\(digest.prefix(2))/\(digest)"
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    data[data.count / 2] ^= 16
    try FileManager.default.removeItem(atPath: path)
    try data.write(to: URL(fileURLWithPath: path))
    return path
  }

  @Test("check tells a sound store in two lines; a quick one claims no more than it saw")
  func sound() throws {
    for (arguments, verdict) in [
      (["store", "check"], "the store is sound\n"),
      (["store", "check", "--quick"], "no bytes were read\n"),
    ] {
      let result = try place.spool(arguments)
      #expect(result.exitCode == 0 && result.errorOutput == "")
      #expect(result.text.hasSuffix(verdict), "\(result.text)")
      #expect(result.text.split(separator: "\n").count == 2)
      #expect(!result.text.contains("\u{1B}") && !result.text.contains("\r"))
    }
    #expect(try check().findings.isEmpty)
    #expect(try place.spool(["store", "check", "--quiet"]).text == "")
  }

  @Test("a flipped bit is found, named and repaired, and the next run gives the same bytes")
  func damage() throws {
    let before = try place.allExports()
    let path = try damageExport()
    let result = try place.spool(["store", "check"])
    #expect(result.exitCode == 4)
    for words in [path, "its bytes are not those that its name promises", "spool store repair"] {
      #expect(result.text.contains(words), "\(words)\n\(result.text)")
    }
    #expect(try check().findings.map(\.path) == [path])

    let plan = try place.spool(["store", "repair", "--dry-run"])
    #expect(plan.exitCode == 0 && plan.text.contains("nothing was changed"))
    #expect(FileManager.default.fileExists(atPath: path))
    #expect(try place.spool(["store", "repair"]).exitCode == 0)
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(try check().sound)
    #expect(try place.spool(["store", "repair"]).text == "nothing to repair\n")

    try FileManager.default.removeItem(atPath: place.out)
    let again = try place.run(pipeline, [note])
    #expect(again.made == ["export"])
    #expect(try place.allExports() == before)
  }

  @Test("an export that a user edited is mentioned, and is no damage")
  func editedExport() throws {
    let name = try #require(place.exports.first)
    try Data("edited".utf8).write(to: URL(fileURLWithPath: place.out + "/" + name))
    let result = try place.spool(["store", "check"])
    #expect(result.exitCode == 0)
    #expect(
      result.text.contains("remark:  1 export changed since, \(place.out)/\(name)"),
      "\(result.text)")
    try FileManager.default.removeItem(atPath: place.out)
    _ = try damageExport()
    let both = try place.spool(["store", "check"]).text.split(separator: "\n")
    #expect(both.first?.hasPrefix("damaged: ") == true, "\(both)")
    #expect(both.filter { $0.hasPrefix("remark: ") }.count == 1, "\(both)")
    #expect(both.contains { $0.contains("4 exports moved or deleted since, such as ") }, "\(both)")
  }

  @Test("a destroyed database costs nothing but one line", arguments: [true, false])
  func destroyed(hasBackup: Bool) throws {
    let database = place.store + "/spool.sqlite"
    if !hasBackup { try FileManager.default.removeItem(atPath: place.store + "/backups") }
    try Data("destroyed".utf8).write(to: URL(fileURLWithPath: database))
    #expect(try check().findings.map(\.kind) == ["database"])
    let runs = try place.spool(["runs"])
    #expect(runs.exitCode == 0)
    #expect(runs.text.contains("note.wav") && runs.text.contains("done"))
    #expect(runs.errorOutput.hasPrefix("note: the store's database was lost"))
    #expect(runs.errorOutput.split(separator: "\n").count == 1, "\(runs.errorOutput)")
    #expect(runs.errorOutput.contains(hasBackup ? "backup 1" : "the change log"))
    let again = try place.run(pipeline, [note])
    #expect(again.made == [] && again.errorOutput == "")
    #expect(try check().sound)
  }

  @Test("a deleted database is told of in one sentence, whoever notices", arguments: [true, false])
  func deleted(hasBackup: Bool) throws {
    let lost =
      ["spool.sqlite", "spool.sqlite-wal", "spool.sqlite-shm"] + (hasBackup ? [] : ["backups"])
    let loss = "the store's database was lost (it is gone)"
    let source = hasBackup ? "backup 1 and the change log" : "the change log beside it"
    for words in [
      ["run", pipeline, note, "--out", place.out], ["status"], ["runs"], ["store", "gc", "-n"],
      ["store", "check"], ["store", "repair", "-n"], ["store", "repair"],
    ] {
      for name in lost { try? FileManager.default.removeItem(atPath: place.store + "/" + name) }
      let result = try place.spool(words)
      let told = result.text + result.errorOutput
      let count = told.components(separatedBy: loss).count - 1
      #expect(count == 1 && !told.contains("nothing in it"), "\(words): \(told)")
      if words != ["store", "repair", "-n"] { #expect(told.contains(source), "\(words): \(told)") }
    }
    #expect(try place.run(pipeline, [note]).made == [])
    #expect(try place.spool(["store", "repair", "--json"]).text.contains(#""actions":[]"#))
  }

  @Test("gc frees nothing that is recent, and tells what it would free")
  func recent() throws {
    for arguments in [
      ["store", "gc"], ["store", "gc", "--sound"], ["store", "gc", "--keep-size", "0 B"],
    ] {
      let result = try place.spool(arguments)
      #expect(result.exitCode == 0)
      #expect(result.text.hasPrefix("nothing to free; "), "\(result.text)")
    }
    #expect(try place.run(pipeline, [note]).made == [])
  }

  /// Makes all that lies in the store two hours old.
  private func age() throws {
    for case let name as String in FileManager.default.enumerator(atPath: place.store) ?? .init()
    where name.hasPrefix("artifacts/") {
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -7200)],
        ofItemAtPath: place.store + "/" + name)
    }
    try DiskStore(at: place.store).withDatabase { (database) throws(SpoolError) in
      _ = try database.transaction(to: "test") { (database) throws(SpoolError) in
        try database.run(
          "UPDATE checkpoints SET recorded_at = recorded_at - 7200000000000", to: "test")
      }
    }
  }

  @Test("gc frees sound first, then all, never what is pinned, and a run makes it all again")
  func collection() throws {
    let before = try place.allExports()
    let id = try #require(first.record).id
    for name in [id, "last"] {
      #expect(try place.spool(["store", "gc", "--pin", name]).text == "pinned \(id)\n")
    }
    try age()
    #expect(
      try place.spool(["store", "gc", "--keep-size", "1kB"]).text.hasPrefix("nothing to free"))
    #expect(
      try place.spool(["store", "gc", "--unpin", String(id.prefix(17))]).text == "unpinned \(id)\n")

    let plan = try place.spool(["store", "gc", "--sound", "--dry-run"])
    #expect(plan.text.contains("would free") && plan.text.contains("  sound  ("), "\(plan.text)")
    #expect(!plan.text.contains(place.store + "/artifacts/"), "\(plan.text)")
    #expect(plan.text.split(separator: "\n").count <= 20)
    let named = try place.spool(["store", "gc", "--sound", "--dry-run", "--verbose"])
    #expect(named.text.contains(place.store + "/artifacts/"), "\(named.text)")
    #expect(try place.spool(["store", "gc", "--sound"]).text.hasPrefix("freed "))
    #expect(try check().findings.isEmpty)
    let artifacts = try check().artifacts
    #expect(artifacts >= 4)

    #expect(try place.spool(["store", "gc", "--keep-size", "0 B"]).text.contains("0 B are left"))
    let after = try check()
    #expect(after.artifacts == 0 && after.findings.isEmpty)
    #expect(try place.spool(["runs"]).text.contains(id))
    try FileManager.default.removeItem(atPath: place.out)
    #expect(try place.run(pipeline, [note]).exitCode == 0)
    #expect(try place.allExports() == before)
  }

  @Test("store info tells the place, the sizes by kind and recording, and the last check")
  func contents() throws {
    let before = try place.spool(["store", "info"])
    #expect(before.exitCode == 0)
    #expect(before.text.contains("last check without damage never"), "\(before.text)")
    for words in [
      place.store, "free on its disk", "of recordings", "spool store gc would free nothing",
    ] {
      #expect(before.text.contains(words), "\(words): \(before.text)")
    }
    #expect(before.text.split(separator: "\n").count <= 24)
    try age()
    #expect(try check().sound)
    let after = try place.spool(["store", "info", "--json"])
    #expect(after.text.contains(#""checkedAt":"#) && after.text.contains(#""byteCount":"#))
  }

  @Test("gc leaves alone what was wanted lately, unless told for how long")
  func grace() throws {
    #expect(
      try place.spool(["store", "gc", "--older-than", "0s"]).text.hasPrefix("nothing to free"))
    let freed = try place.spool(["store", "gc", "--older-than", "0s", "--grace", "0s"])
    #expect(freed.exitCode == 0 && freed.text.contains("0 B are left"), "\(freed.text)")
    #expect(try check().artifacts == 0)
  }

  @Test("gc refuses what it does not understand, and says what it would")
  func wrongArguments() throws {
    for arguments in [["--older-than", "soon"], ["--keep-size", "20"], ["--older-than", "-3d"]] {
      let result = try place.spool(["store", "gc"] + arguments)
      #expect(result.exitCode == 2 && result.text == "", "\(arguments)")
    }
    for arguments in [["--unpin", "last", "--keep-size", "0 B"], ["--pin", "last", "-n"]] {
      let result = try place.spool(["store", "gc"] + arguments)
      #expect(result.exitCode == 2, "\(arguments)")
      let complaint = try #require(Complaint(result.errorOutput), "\(result.errorOutput)")
      #expect(complaint.what.contains("\(arguments[0]) cannot be combined with"), "\(complaint)")
      #expect(complaint.next.contains("twice"))
    }
    let unknown = try place.spool(["store", "gc", "--pin", "19990101"])
    #expect(unknown.exitCode == 2)
    #expect(unknown.errorOutput.contains("spool runs lists them"))
  }

  @Test("backup and restore: a slot, a file, and what is no backup")
  func backups() throws {
    let made = try place.spool(["store", "backup"])
    #expect(made.text == "backed up to \(place.store)/backups/spool-1.sqlite\n")
    let file = place.file("copy.sqlite")
    #expect(try place.spool(["store", "backup", "copy.sqlite"]).text == "backed up to \(file)\n")
    let refused = try place.spool(["store", "backup", "copy.sqlite"])
    #expect(refused.exitCode == 1)
    #expect(Complaint(refused.errorOutput)?.next.contains("--replace") == true)

    for source in [[], ["1"], ["copy.sqlite"]] as [[String]] {
      let restored = try place.spool(["store", "restore"] + source)
      #expect(restored.exitCode == 0 && restored.text.hasPrefix("restored from "), "\(source)")
      let check = try place.spool(["store", "check"])
      #expect(check.exitCode == 0, "\(check.text)")
      #expect(try place.run(pipeline, [note]).made == [])
    }
    for number in ["9", "0"] {
      let complaint = Complaint(try place.spool(["store", "restore", number]).errorOutput)
      #expect(complaint?.what.hasPrefix("cannot find the backup") == true)
      #expect(complaint?.why.contains("these: 1") == true)
      #expect(complaint?.next.contains("--list") == true)
    }
    let absent = try place.spool(["store", "restore", "nosuch"])
    #expect(absent.exitCode == 2)
    #expect(Complaint(absent.errorOutput)?.what.contains("nosuch") == true)
    let backup = place.store + "/backups/spool-1.sqlite"
    let list = try place.spool(["store", "restore", "--list"]).text
    #expect(list.hasPrefix("1  20") && list.hasSuffix("  sound\n"), "\(list)")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: backup))
    bytes[18] ^= 4
    try bytes.write(to: URL(fileURLWithPath: backup))
    #expect(try place.spool(["store", "restore", "--list"]).text.contains("  damaged: "))
    let wrong = try place.spool(["store", "restore", note])
    #expect(wrong.exitCode == 1)
    #expect(Complaint(wrong.errorOutput)?.why == "file is not a database")
    #expect(try place.run(pipeline, [note]).made == [])
  }

  @Test("nobody repairs or restores under a run that is going on")
  func busy() throws {
    let long = place.file("long.wav")
    try Reference.record(long, seconds: 300)
    let running = try place.start(try place.quickPipeline(formats: "wav"), [long])
    #expect(try running.waits(for: #""event":"progress""#))
    running.send(SIGSTOP)
    for arguments in [["store", "repair"], ["store", "restore"]] {
      let result = try place.spool(arguments)
      #expect(result.exitCode == 1, "\(result.text)")
      let complaint = Complaint(result.errorOutput)
      #expect(complaint?.why.contains("(spool run") == true, "\(result.errorOutput)")
    }
    #expect(try place.spool(["store", "check", "--quick"]).exitCode == 0)
    #expect(try place.spool(["store", "gc", "--keep-size", "0 B"]).exitCode == 0)
    running.send(SIGCONT)
    #expect(try running.end().run.exitCode == 0)
    #expect(try check().sound)
  }

  @Test("a store whose making was cut off is called that, and not damaged", arguments: 1...12)
  func unborn(operation: Int) throws {
    let store = place.file("new")
    let killed = try place.spool(
      ["run", pipeline, note, "--store", store], environment: ["SPOOL_CRASH_BEFORE": "\(operation)"]
    )
    #expect(killed.exitCode != 0)
    let result = try place.spool(["store", "check", "--store", store])
    let isThere = try !place.spool(["runs", "--store", store]).errorOutput.contains("no store")
    #expect(result.exitCode == (isThere ? 0 : 1), "\(result.text)")
    #expect(!result.text.contains("damaged") && !result.text.contains("it is gone"))
  }

  @Test(
    "a store that its owner keeps closed is there, and says how it is opened",
    .enabled(if: getuid() == 0, "only root can be two users"))
  func closedStore() throws {
    let setpriv = try #require(Program(named: "setpriv"))
    #expect(try place.run(pipeline, [note]).exitCode == 0)
    try Reference.output("chmod", ["-R", "a+rX", place.folder.path])
    try Reference.output("chmod", ["700", place.store])
    try FileManager.default.createDirectory(
      atPath: place.file("free"), withIntermediateDirectories: false)
    try Reference.output("chmod", ["777", place.file("free")])
    let other = ["--reuid=65534", "--regid=65534", "--clear-groups"]
    let readers = [
      ["runs"], ["status", "--check"], ["store", "check"], ["store", "info"], ["why", "last"],
      ["store", "backup", place.file("free/backup")],
    ]
    let writers = [["run", pipeline, note, "--out", place.file("free")], ["resume"]]
    for command in readers + writers {
      let refused = try place.spool(command, under: setpriv, other)
      let complaint = try #require(Complaint(refused.errorOutput), "\(command)")
      #expect(refused.exitCode == 1, "\(command)")
      #expect(complaint.what == "cannot read the store \(place.store)", "\(command): \(complaint)")
      #expect(complaint.why == "Permission denied")
      #expect(complaint.next.contains("chmod -R a+rX \(place.store)"), "\(complaint)")
    }
    try Reference.output("chmod", ["-R", "a+rX", place.store])
    for command in readers {
      let opened = try place.spool(command, under: setpriv, other)
      #expect(opened.exitCode == 0, "\(command): \(opened.errorOutput)")
    }
  }

  @Test("where there is no store, looking makes none")
  func noStore() throws {
    let folder = place.file("nowhere")
    for command in ["check", "repair", "restore", "backup"] {
      let result = try place.spool(["store", command, "--store", folder])
      #expect(result.exitCode == 1)
      #expect(Complaint(result.errorOutput)?.next.contains("--store") == true)
      #expect(!FileManager.default.fileExists(atPath: folder))
    }
    // One that is to be made is made, but for a folder above it that is missing.
    let made = try place.spool([
      "run", pipeline, note, "--out", place.out, "--store", folder + "/store",
    ])
    #expect(made.exitCode == 1)
    #expect(Complaint(made.errorOutput)?.why.contains("\(folder), does not exist") == true)
    #expect(!FileManager.default.fileExists(atPath: folder))
  }
}
