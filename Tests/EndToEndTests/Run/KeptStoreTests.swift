import Foundation
import TestSupport
import Testing

/// Opens a copy of the store, keys and exports that version 0.1 left.
@Suite(
  "A store of an earlier version opens, and nothing in it is lost",
  .enabled(if: Program(named: "tar") != nil && Program(named: "xz") != nil, "tar or xz is missing"))
struct KeptStoreTests {
  private let place: Workspace

  init() throws {
    place = try Workspace()
    try PackageFiles.unpackKeptStore(into: place.folder)
  }

  /// The values of a key in lines of JSON.
  private func values(_ key: String, _ arguments: [String]) throws -> [String] {
    let result = try place.spool(arguments + ["--json"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    let lines = result.text.split(separator: "\n").compactMap { line in
      try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    }
    return lines.compactMap { $0[key] as? String }
  }

  /// What has to be there whether the database is the kept one or was rebuilt.
  private func expectContents() throws {
    #expect(
      Set(try values("file", ["inbox", "list"])) == ["a.wav", "b.wav"],
      "both recordings of the inbox are known")
    #expect(Set(try values("state", ["inbox", "list"])) == ["uploaded", "quarantined"])
    #expect(try values("id", ["runs"]).count == 6)
    let hits = try place.spool(["search", "garage"])
    #expect(hits.exitCode == 0 && hits.text.contains("[garage]"), "\(hits.text)\(hits.errorOutput)")
  }

  @Test("recordings, runs and words are there, and check calls it sound once it was opened")
  func contents() throws {
    let early = try place.spool(["store", "check"])
    #expect(early.exitCode == 1 && early.errorOutput.contains("spool runs brings it up to date"))
    try expectContents()
    _ = try values("id", ["runs"])
    let check = try place.spool(["store", "check"])
    #expect(check.exitCode == 0 && check.text.hasSuffix("the store is sound\n"), "\(check.text)")
    try expectContents()
  }

  @Test("receipts verify, and the log holds all three with the withdrawal")
  func receipts() throws {
    for receipt in ["out/tone.receipt.json", "wout/a.receipt.json"] {
      let result = try place.spool(["verify", receipt])
      #expect(result.exitCode == 0, "\(receipt): \(result.text)\(result.errorOutput)")
    }
    let log = try place.spool(["proof", "ledger"])
    #expect(log.exitCode == 0, "\(log.errorOutput)")
    #expect(log.text.contains("receipts  3\n"), "\(log.text)")
    #expect(log.text.contains("f7fcd342ccdc858a202a7bc42777da44ee3b7a5579ce196634a07f795306f326"))
  }

  @Test("a database that is lost is made again from the files beside it")
  func rebuilt() throws {
    let manager = FileManager.default
    for name in try manager.contentsOfDirectory(atPath: place.store)
    where name.hasPrefix("spool.sqlite") || name == "backups" {
      try manager.removeItem(atPath: place.store + "/" + name)
    }
    let pipeline = place.file("clean.yaml")
    let again = try place.run(
      pipeline, [place.file("notes/tone.wav")], ["--out", place.file("new")])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(!again.reused.isEmpty, "the checkpoints are used again")
    #expect(
      manager.contents(atPath: place.file("new/tone.flac"))
        == manager.contents(atPath: place.file("out/tone.flac")), "with the same bytes")
    #expect(Set(try values("file", ["inbox", "list"])) == ["a.wav", "b.wav"])
    #expect(try values("id", ["runs"]).count == 7)
  }
}
