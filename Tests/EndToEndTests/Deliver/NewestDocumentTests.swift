import Foundation
import Platform
import TestSupport
import Testing

/// Several documents about one recording, of which the newest counts.
@Suite("Of several documents about a recording at a destination, the newest one counts")
struct NewestDocumentTests {
  private let place: Workspace
  private let disk: String
  private let recording: String

  init() throws {
    place = try Workspace()
    disk = place.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    recording = place.file("walk.wav")
    try Reference.record(recording, seconds: 0.3)
  }

  private var destinations: [String] { ["--destinations", place.file("destinations.yaml")] }

  private func write(isEncrypted: Bool) throws {
    var nas = "folder: \(disk)"
    if isEncrypted {
      let made = try Program(named: "age-keygen")?.run(["-o", place.file("key")])
      #expect(made?.exitCode == 0)
      let recipient = try Program(named: "age-keygen")?.run(["-y", place.file("key")]).text
      nas += ", encrypt: \(recipient?.trimmingCharacters(in: .newlines) ?? "")"
      nas += ", identity: \(place.file("key"))"
    }
    try place.folder.write("destinations: { nas: { \(nas) } }\n", to: "destinations.yaml")
  }

  private func run() throws {
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [flac] }, { proof: { place: folder } }, "
        + "{ deliver: { to: nas } } ]\n")
    let run = try place.spool(["run", pipeline, recording, "--out", place.out] + destinations)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
  }

  /// Delivers to the disk, and names another one `other`.
  /// - Returns: the folder of the other one.
  private func runBesideSecondDisk() throws -> String {
    let second = place.file("second")
    try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: false)
    try place.folder.write(
      "destinations: { nas: { folder: \(disk) }, other: { folder: \(second) } }\n",
      to: "destinations.yaml")
    try run()
    return second
  }

  private func files(in folder: String) -> Set<String> {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return Set(names.filter { (try? FileStamp(at: "\(folder)/\($0)"))?.isRegularFile == true })
  }

  /// Loses the store, and restores it.
  private func restore() throws -> Program.Result {
    try FileManager.default.removeItem(atPath: place.store)
    return try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations)
  }

  @Test("facts that have changed come back", arguments: [false, true])
  func facts(isEncrypted: Bool) throws {
    try write(isEncrypted: isEncrypted)
    for tags in [#""one""#, #""one", "two""#] {
      try place.folder.write(#"{"title": "Weber", "tags": [\#(tags)]}"#, to: "walk.json")
      try run()
    }
    let there = files(in: disk)
    let back = try restore()
    #expect(back.exitCode == 0, "\(back.text) \(back.errorOutput)")
    #expect(!(back.text + back.errorOutput).contains("unnamed"), "\(back.errorOutput)")
    let listed = try place.spool(["inbox", "list", "--json"]).text
    #expect(listed.contains(#""tags":["one","two"]"#), "\(listed)")
    let here = files(in: place.file("back"))
    let documents = here.filter { $0.contains(".recording") }
    #expect(documents.count == 2, "\(here)")
    // The document lies beside the exports, not with the receipts.
    #expect(documents.allSatisfy { !$0.contains("receipts/") }, "\(documents)")
    if !isEncrypted { #expect(documents == there.filter { $0.contains(".recording") }) }
    let again = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations)
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(files(in: place.file("back")) == here)
  }

  @Test(
    "one that was damaged and is sent again brings its recording back", arguments: [false, true])
  func damaged(isEncrypted: Bool) throws {
    try write(isEncrypted: isEncrypted)
    try run()
    let document = try #require(files(in: disk).first { $0.contains(".recording.") })
    try Data().write(to: URL(fileURLWithPath: "\(disk)/\(document)"))
    let verified = try place.spool(["deliver", "verify", "nas"] + destinations)
    #expect(verified.exitCode == 4)
    let number = try #require(
      verified.text.components(separatedBy: "retry ").dropFirst().first?.prefix { $0.isNumber })
    #expect(try place.spool(["deliver", "retry", String(number)]).exitCode == 0)
    let sent = try place.spool(["deliver", "run", "--once"] + destinations)
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    // It has got another name, and that is what is told.
    #expect(sent.text.contains(" (2)."), "\(sent.text)")
    let damaged = try restore()
    #expect(
      damaged.exitCode == 4 && damaged.errorOutput.contains(document), "\(damaged.errorOutput)")
    #expect(try place.spool(["inbox", "list"]).text.contains("walk.wav"))
    try FileManager.default.removeItem(atPath: "\(disk)/\(document)")
    try FileManager.default.removeItem(atPath: place.file("back"))
    let back = try restore()
    #expect(back.exitCode == 0, "\(back.text) \(back.errorOutput)")
    #expect(try place.spool(["inbox", "list"]).text.contains("walk.wav"))
    #expect(files(in: place.file("back")).contains { $0.hasSuffix("/walk.flac") })
  }

  @Test("what two destinations have comes back from both into one folder")
  func twoDestinations() throws {
    _ = try runBesideSecondDisk()
    // Its document states another time.
    sleep(1)
    let sent = try place.spool(["deliver", "send", "last", "--to", "other"] + destinations)
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    #expect(try restore().exitCode == 0)
    let back = try place.spool(
      ["store", "restore", "--from", "other", "--out", place.file("back")] + destinations)
    #expect(back.exitCode == 0 && !back.errorOutput.contains("unnamed"), "\(back.errorOutput)")
    for name in ["nas", "other"] {
      let missing = try place.spool(["deliver", "missing", name] + destinations)
      #expect(missing.text.contains("has the original of every recording"), "\(missing.text)")
      #expect(try place.spool(["deliver", "verify", name] + destinations).exitCode == 0)
    }
    #expect(files(in: place.file("back")).count { $0.contains("/walk.recording") } == 2)
  }

  @Test(
    "what came back is sent again to where it came from, as often as one likes, with its new title")
  func sentAgain() throws {
    try write(isEncrypted: false)
    try run()
    let there = files(in: disk).filter { !$0.contains(".recording") }
    #expect(try restore().exitCode == 0)
    for _ in 1...3 {
      let sent = try place.spool(["deliver", "send", "walk.wav", "--to", "nas"] + destinations)
      #expect(sent.exitCode == 0, "\(sent.text) \(sent.errorOutput)")
    }
    #expect(files(in: disk).filter { !$0.contains(".recording") } == there)
    let folders = Set(files(in: disk).compactMap { $0.split(separator: "/").dropFirst().first })
    #expect(folders.count == 1, "\(files(in: disk))")
  }

  @Test("what came back beside a restored backup is sent from where it lies now")
  func besideBackup() throws {
    let second = try runBesideSecondDisk()
    let copy = place.file("copy.sqlite")
    #expect(try place.spool(["store", "backup", copy]).exitCode == 0)
    for path in [place.store, place.out, recording] {
      try FileManager.default.removeItem(atPath: path)
    }
    #expect(try place.spool(["store", "restore", copy]).exitCode == 0)
    let back = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations)
    #expect(back.exitCode == 0, "\(back.errorOutput)")
    let missing = try place.spool(["deliver", "missing", "other"] + destinations)
    #expect(missing.errorOutput.contains("spool deliver send "), "\(missing.errorOutput)")
    let sent = try place.spool(["deliver", "send", "walk.wav", "--to", "other"] + destinations)
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    #expect(files(in: second).contains { $0.hasSuffix("/walk.flac") }, "\(files(in: second))")
    // What is lost there is sent again.
    let lost = try #require(files(in: disk).first { $0.hasSuffix("/walk.flac") })
    try FileManager.default.removeItem(atPath: "\(disk)/\(lost)")
    let verified = try place.spool(["deliver", "verify", "nas"] + destinations)
    let number = try #require(
      verified.text.components(separatedBy: "retry ").dropFirst().first?.prefix { $0.isNumber })
    #expect(try place.spool(["deliver", "retry", String(number)] + destinations).exitCode == 0)
    #expect(try place.spool(["deliver", "run", "--once"] + destinations).exitCode == 0)
    #expect(files(in: disk).contains(lost))
  }
}
