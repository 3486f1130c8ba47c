import Foundation
import Platform
import TestSupport
import Testing

/// Destinations that may not read, or not get, what a user has.
@Suite("What leaves the machine is what its user wants to leave it")
struct ProtectedDestinationTests {
  private let place: Workspace
  private let disk: String

  init() throws {
    place = try Workspace()
    disk = place.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
  }

  private var destinations: [String] { ["--destinations", place.file("destinations.yaml")] }

  private func write(_ nas: String) throws {
    try place.folder.write("destinations: { nas: \(nas) }\n", to: "destinations.yaml")
  }

  private func files(in folder: String) -> [String: Data] {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    var found: [String: Data] = [:]
    for name in names where (try? FileStamp(at: "\(folder)/\(name)"))?.isRegularFile == true {
      found[name] = FileManager.default.contents(atPath: "\(folder)/\(name)")
    }
    return found
  }

  @Test("an encrypted destination reads neither sound nor names, and everything comes back from it")
  func encrypted() throws {
    let made = try Program(named: "age-keygen")?.run(["-o", place.file("key")])
    #expect(made?.exitCode == 0)
    let recipient = try Program(named: "age-keygen")?.run(["-y", place.file("key")]).text
    let key = recipient?.trimmingCharacters(in: .newlines) ?? ""
    try write("{ folder: \(disk), encrypt: \(key), identity: \(place.file("key")) }")
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [flac] }, proof, { deliver: { to: [nas] } } ]\n")
    let recording = place.file("Secret walk.wav")
    try Reference.record(recording, seconds: 1)
    let original = try #require(FileManager.default.contents(atPath: recording))
    let run = try place.spool(["run", pipeline, recording, "--out", place.out] + destinations)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let sealed = files(in: disk)
    #expect(sealed.count >= 6, "\(sealed.keys)")
    for (name, bytes) in sealed {
      #expect(name.hasSuffix(".age") && !name.contains("/") && !name.lowercased().contains("walk"))
      #expect(bytes.starts(with: Data("age-encryption.org/v1".utf8)), "\(name)")
    }
    #expect(try place.spool(["deliver", "verify", "nas"] + destinations).exitCode == 0)
    let fetched = try place.spool(
      ["deliver", "fetch", "nas", "last", "--out", place.file("here")] + destinations)
    #expect(fetched.exitCode == 0, "\(fetched.errorOutput)")
    let here = files(in: place.file("here"))
    #expect(here.values.contains(original), "\(here.keys)")
    #expect(here.keys.contains { $0.hasSuffix("/Secret walk.flac") }, "\(here.keys)")

    try FileManager.default.removeItem(atPath: place.store)
    let restored = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations)
    #expect(restored.exitCode == 0, "\(restored.text) \(restored.errorOutput)")
    let back = files(in: place.file("back"))
    let flac = try #require(back.first { $0.key.hasSuffix("/Secret walk.flac") })
    #expect(flac.value == FileManager.default.contents(atPath: place.out + "/Secret walk.flac"))
    #expect(try place.spool(["store", "check"]).exitCode == 0)
    let verified = try place.spool(["deliver", "verify", "nas"] + destinations)
    #expect(verified.exitCode == 0, "\(verified.text) \(verified.errorOutput)")
    let sealedFile = try #require(sealed.max { $0.value.count < $1.value.count }?.key)
    try Data("x".utf8).write(to: URL(fileURLWithPath: "\(disk)/\(sealedFile)"))
    #expect(try place.spool(["deliver", "verify", "nas"] + destinations).exitCode == 4)
    try sealed[sealedFile]?.write(to: URL(fileURLWithPath: "\(disk)/\(sealedFile)"))
    let listed = try place.spool(["inbox", "list"]).text
    #expect(listed.contains("Secret walk.wav"), "\(listed)")

    // Another key opens nothing, and that is told as such.
    _ = try Program(named: "age-keygen")?.run(["-o", place.file("other")])
    try write("{ folder: \(disk), encrypt: \(key), identity: \(place.file("other")) }")
    let refused = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("none"), "--store"]
        + [place.file("third")] + destinations)
    #expect(
      refused.exitCode == 1 && refused.errorOutput.contains("identity"), "\(refused.errorOutput)")
  }

  @Test("a sensitive recording stays here until it is released")
  func sensitive() throws {
    let inbox = try WatchedPlace(delivery: "{ to: nas }")
    let there = inbox.place.file("disk")
    try FileManager.default.createDirectory(atPath: there, withIntermediateDirectories: false)
    try inbox.place.folder.write(
      "destinations: { nas: { folder: \(there) } }\n", to: "destinations.yaml")
    try inbox.make(1)
    let options = ["--destinations", inbox.place.file("destinations.yaml")]
    let watch = try inbox.watch(options)
    let id = "7f3c2a10-0000-4bbb-8ccc-000000000001"
    try inbox.place.folder.write(#"{"noteId": "\#(id)", "sensitive": true}"#, to: "made/side.json")
    try inbox.shell("mv made/side.json inbox/walk.json; mv made/1.wav inbox/walk.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploading" } }, "\(watch.output)")
    let status = try inbox.place.spool(["status"]).text
    #expect(status.contains("sensitive"), "\(status)")
    #expect(try inbox.place.spool(["deliver", "retry"]).exitCode == 0)
    // What is not sensitive passes it.
    try inbox.make(2)
    try inbox.shell("mv made/2.wav inbox/other.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(!files(in: there).keys.contains { $0.contains("walk.wav") })
    #expect(try inbox.note("walk.wav").state == "uploading")
    let released = try inbox.place.spool(["deliver", "release", id])
    #expect(released.exitCode == 0 && released.text.contains("may be sent"), "\(released.text)")
    #expect(released.errorOutput.contains("next:  spool deliver run --once"))
    #expect(inbox.wait { (try? inbox.note("walk.wav").state) == "uploaded" }, "\(watch.output)")
    #expect(files(in: there).keys.contains { $0.hasSuffix("originals/walk.wav") })
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test(
    "a sidecar beside a recording of a run or a batch counts, and goes along",
    arguments: [false, true])
  func sidecars(isBatch: Bool) throws {
    try write("{ folder: \(disk) }")
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [wav] }, { deliver: { to: [nas] } } ]\n")
    try FileManager.default.createDirectory(
      atPath: place.file("in"), withIntermediateDirectories: false)
    let recording = place.file("in/take 7.wav")
    try Reference.record(recording, seconds: 0.3)
    let facts = #""title": "Cellar talk", "createdAt": "1974-02-01T09:30:00+01:00", "tags": ["a"]"#
    try place.folder.write(
      "{\(facts), \"sensitive\": \(isBatch ? "\"yes\"" : "true")}", to: "in/take 7.json")
    func run() throws {
      let words = isBatch ? ["batch", pipeline, place.file("in")] : ["run", pipeline, recording]
      let done = try place.spool(words + ["--out", place.out] + destinations)
      #expect(done.exitCode == 0, "\(done.errorOutput)")
    }
    try run()
    #expect(files(in: disk).isEmpty, "\(files(in: disk).keys)")
    #expect(try place.spool(["status"]).text.contains("sensitive"))
    #expect(try place.spool(["deliver", "release", "last"]).exitCode == 0)
    #expect(try place.spool(["deliver", "run", "--once"] + destinations).exitCode == 0)
    let there = files(in: disk)
    #expect(there.keys.contains { $0.hasSuffix("originals/take 7.json") }, "\(there.keys)")
    #expect(there.keys.allSatisfy { $0.hasPrefix("1974-02-01/Cellar talk-") }, "\(there.keys)")
    let document = try #require(there.first { $0.key.hasSuffix(".recording.json") })
    let text = String(decoding: document.value, as: UTF8.self)
    #expect(text.contains("Cellar talk") && text.contains(#""tags":["a"]"#), "\(text)")
    try run()
    #expect(files(in: disk) == there)
  }

  @Test(
    "a link is given where the destination has one, and a destination that is unknown is refused")
  func links() throws {
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [wav] }, { deliver: { to: [nas] } } ]\n")
    let recording = place.file("a walk.wav")
    try Reference.record(recording, seconds: 0.3)
    let unknown = try place.spool(["run", pipeline, recording, "--out", place.out])
    #expect(unknown.exitCode == 2, "\(unknown.errorOutput)")
    #expect(unknown.errorOutput.contains("no destination nas"), "\(unknown.errorOutput)")
    #expect(try place.spool(["pipeline", "plan", pipeline, recording]).exitCode == 2)
    #expect(!FileManager.default.fileExists(atPath: place.out))
    try write("{ folder: \(disk) }")
    #expect(
      try place.spool(["run", pipeline, recording, "--out", place.out] + destinations).exitCode == 0
    )
    let none = try place.spool(["deliver", "link", "last"] + destinations)
    #expect(none.exitCode == 1 && none.errorOutput.contains("no links"), "\(none.errorOutput)")
    guard LocalServer.hasNginx else { return }
    let server = try LocalServer.nginx(ScratchFolder())
    let address = "http://127.0.0.1:\(server.port)/Spool"
    try place.folder.write(
      "destinations: { web: { webdav: \"\(address)\", public: \"\(address)\" } }\n",
      to: "destinations.yaml")
    let sent = try place.spool(["deliver", "send", "last", "--to", "web"] + destinations)
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    let link = try place.spool(["deliver", "link", "last"] + destinations)
    #expect(link.exitCode == 0, "\(link.errorOutput)")
    let got = try Program(named: "curl")?.run([
      "--noproxy", "*", "-sf", link.text.trimmingCharacters(in: .newlines),
    ])
    #expect(got?.output == FileManager.default.contents(atPath: place.out + "/a walk.wav"))
  }
}
