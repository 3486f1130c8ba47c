import Foundation
import Platform
import TestSupport
import Testing

/// Deliveries by the built program, which is killed in the middle of them.
@Suite(
  "A killed delivery loses nothing, sends nothing twice, and leaves no half file under its name")
struct DeliveryKillTests {
  private let place: Workspace
  private let disk: String

  init() throws {
    place = try Workspace()
    disk = place.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    // Slow enough to be killed in the middle of a file.
    try place.folder.write(
      "destinations: { nas: { folder: \(disk), rate: 25 MB/s } }\n", to: "destinations.yaml")
  }

  private var destinations: [String] { ["--destinations", place.file("destinations.yaml")] }

  /// The files at the destination: path and SHA-256, without unfinished ones and documents.
  private func delivered() throws -> [String: String] {
    let names = FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    var found: [String: String] = [:]
    for name in names where !name.contains(".part-") && !name.hasSuffix(".recording.json") {
      let path = "\(disk)/\(name)"
      guard (try? FileStamp(at: path))?.isRegularFile == true else { continue }
      found[name] = SHA256.digest(of: Array(try Data(contentsOf: URL(fileURLWithPath: path)))).hex
    }
    return found
  }

  private func queue() throws -> [[String: Any]] {
    try place.spool(["deliver", "queue", "--all", "--json"]).text.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
  }

  @Test("forty times in one delivery of six files")
  func killed() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: sent
      inputs: { note: sound }
      stages:
        - decode
        - export: [wav, flac]
        - deliver: { to: nas }
      """)
    for (name, seconds) in [("long", 150.0), ("short", 0.5)] {
      try Reference.record(place.file("\(name).wav"), seconds: seconds)
      let run = try place.spool(
        ["run", pipeline, place.file("\(name).wav"), "--out", place.out, "--deliver-wait", "0"]
          + destinations)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      #expect(run.errorOutput.contains("spool deliver run --once"), "\(run.errorOutput)")
    }
    let wanted = Dictionary(
      uniqueKeysWithValues: try queue().filter { $0["what"] as? String != "metadata" }.map {
        ($0["path"] as? String ?? "", $0["digest"] as? String ?? "")
      })
    #expect(wanted.count == 6)
    for round in 1...40 {
      let sending = try place.start(["deliver", "run", "--once", "--quiet"] + destinations)
      usleep(UInt32.random(in: 50_000...350_000))
      sending.send(SIGKILL)
      _ = sending.ends(within: 60)
      for (path, digest) in try delivered() {
        #expect(wanted[path] == digest, "\(path) after kill \(round)")
      }
    }
    let rest = try place.spool(["deliver", "run", "--once"] + destinations)
    #expect(rest.exitCode == 0, "\(rest.errorOutput)")
    #expect(try delivered() == wanted)
    let left = FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    #expect(!left.contains { $0.contains(".part-") }, "\(left)")
    #expect(left.count { $0.hasSuffix(".recording.json") } == 2, "\(left)")
    #expect(try queue().allSatisfy { $0["state"] as? String == "delivered" })
  }

  @Test("a signal ends it at once, and the next delivery goes on with the same file")
  func interrupted() throws {
    let pipeline = try place.pipeline(
      "pipeline: sent\ninputs: { note: sound }\nstages:\n  - decode\n  - export: [wav]\n"
        + "  - deliver: { to: nas, what: exports }\n")
    try Reference.record(place.file("long.wav"), seconds: 300)
    _ = try place.spool(
      ["run", pipeline, place.file("long.wav"), "--out", place.out, "--deliver-wait", "0"]
        + destinations)
    let sending = try place.start(["deliver", "run", "--json"] + destinations)
    #expect(try sending.waits(for: "delivery-progress"))
    sending.send(SIGTERM)
    #expect(sending.ends(within: 60))
    let sent = try #require(try queue().first?["sentByteCount"] as? Int)
    #expect(sent > 0)
    #expect(try delivered().isEmpty)
    let rest = try place.spool(["deliver", "run", "--once"] + destinations)
    #expect(rest.exitCode == 0, "\(rest.errorOutput)")
    #expect(try delivered().count == 1)
  }
}
