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

    try FileManager.default.moveItem(atPath: place.store, toPath: place.file("old"))
    let restored = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations)
    #expect(restored.exitCode == 0, "\(restored.text) \(restored.errorOutput)")
    let back = files(in: place.file("back"))
    let flac = try #require(back.first { $0.key.hasSuffix("/Secret walk.flac") })
    #expect(flac.value == FileManager.default.contents(atPath: place.out + "/Secret walk.flac"))
    // The confirmation lies beside its receipt under its own name, and both are checked there.
    #expect(!back.keys.contains { $0.hasSuffix(".age") }, "\(back.keys)")
    let receipt = try #require(back.keys.first { $0.hasSuffix(".receipt.json") })
    let confirmation = receipt.replacing(".receipt.json", with: ".delivered-nas.json")
    #expect(
      back[confirmation] == here[confirmation] && back[confirmation] != nil, "\(back.keys)")
    let checked = try place.spool(
      ["verify", place.file("back"), "--json", "--store", place.file("old")])
    #expect(checked.exitCode == 0, "\(checked.text) \(checked.errorOutput)")
    #expect(checked.text.contains("delivered-nas"), "\(checked.text)")
    let again = try place.spool(
      ["deliver", "fetch", "nas", "Secret walk.wav", "--out", place.file("again")] + destinations)
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(files(in: place.file("again"))[confirmation] == back[confirmation])
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

  @Test("a killed restore leaves nothing of an encrypted destination in clear but what it restores")
  func killed() throws {
    _ = try Program(named: "age-keygen")?.run(["-o", place.file("key")])
    let recipient = try Program(named: "age-keygen")?.run(["-y", place.file("key")]).text
    let key = recipient?.trimmingCharacters(in: .newlines) ?? ""
    try write("{ folder: \(disk), encrypt: \(key), identity: \(place.file("key")) }")
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [wav, flac] }, { deliver: { to: [nas] } } ]\n")
    try Reference.record(place.file("walk.wav"), seconds: 300)
    let run = try place.spool(
      ["run", pipeline, place.file("walk.wav"), "--out", place.out] + destinations)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    try FileManager.default.removeItem(atPath: place.store)
    let back = place.file("back")
    let restore = ["store", "restore", "--from", "nas", "--out", back] + destinations
    for round in 1...16 {
      let work = try place.start(restore)
      usleep(UInt32(round) * 20_000)
      work.send(SIGKILL)
      _ = work.ends(within: 60)
      let names = FilePath.names(in: back)
      #expect(!names.contains { $0.hasPrefix("spool-") }, "\(names) after kill \(round)")
    }
    let restored = try place.spool(restore)
    #expect(restored.exitCode == 0, "\(restored.text) \(restored.errorOutput)")
    let names = files(in: back).keys
    #expect(names.count == 3 && names.allSatisfy { !$0.contains(".part-") }, "\(names)")
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
    let key = try inbox.note("walk.wav").key
    let held = "files for destinations are held until spool deliver release \(key)"
    #expect(inbox.wait { watch.output.contains(held) }, "\(watch.output)")
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
    #expect(released.text.contains("tried at once"), "the watch sends it: \(released.text)")
    #expect(inbox.wait { (try? inbox.note("walk.wav").state) == "uploaded" }, "\(watch.output)")
    #expect(files(in: there).keys.contains { $0.hasSuffix("originals/walk.wav") })
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test(
    "a recording that turns out to be sensitive is held while its files wait",
    arguments: [nil, #"{"title": "Cellar"}"#])
  func late(first: String?) throws {
    let inbox = try WatchedPlace(delivery: "{ to: nas }")
    let there = inbox.place.file("disk")
    try FileManager.default.createDirectory(atPath: there, withIntermediateDirectories: false)
    try inbox.place.folder.write(
      "destinations: { nas: { folder: \(there) } }\n", to: "destinations.yaml")
    let options = ["--destinations", inbox.place.file("destinations.yaml")]
    try inbox.make(1)
    let watch = try inbox.watch(options)
    #expect(try inbox.place.spool(["deliver", "pause", "nas"] + options).exitCode == 0)
    if let first {
      try inbox.place.folder.write(first, to: "made/side.json")
      try inbox.shell("mv made/side.json inbox/walk.json")
    }
    try inbox.shell("mv made/1.wav inbox/walk.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploading" } }, "\(watch.output)")
    try inbox.place.folder.write(#"{"Sensitive": "yes"}"#, to: "made/side.json")
    try inbox.shell("mv made/side.json inbox/walk.json")
    #expect(inbox.wait { watch.output.contains("sensitive now") }, "\(watch.output)")
    #expect(try inbox.place.spool(["deliver", "resume", "nas"] + options).exitCode == 0)
    let queue = try inbox.place.spool(["deliver", "queue", "--json"]).text.split(separator: "\n")
    #expect(
      queue.count == (first == nil ? 5 : 4) && queue.allSatisfy { $0.contains(#""state":"held""#) },
      "\(queue) \(watch.output)")
    #expect(try inbox.place.spool(["status"]).text.contains("sensitive"))
    usleep(1_500_000)
    #expect(files(in: there).isEmpty, "\(files(in: there).keys)")
    #expect(watch.output.components(separatedBy: "sensitive now").count == 2, "\(watch.output)")
    #expect(try inbox.place.spool(["deliver", "release", "walk.wav"]).exitCode == 0)
    #expect(inbox.wait { (try? inbox.note("walk.wav").state) == "uploaded" }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test("a sidecar that comes before a run is repeated holds what waits")
  func repeated() throws {
    try write("{ folder: \(disk) }")
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [wav] }, { deliver: { to: [nas] } } ]\n")
    let recording = place.file("walk.wav")
    try Reference.record(recording, seconds: 0.3)
    let words =
      ["run", pipeline, recording, "--out", place.out, "--deliver-wait", "0"] + destinations
    #expect(try place.spool(words).exitCode == 0)
    try place.folder.write(#"{"SENSITIVE": 1}"#, to: "walk.json")
    #expect(try place.spool(words).exitCode == 0)
    let sent = try place.spool(["deliver", "run", "--once"] + destinations)
    #expect(sent.exitCode == 0 && files(in: disk).isEmpty, "\(sent.text)")
    #expect(sent.errorOutput.contains("spool deliver release"), "\(sent.errorOutput)")
    #expect(try place.spool(["deliver", "release", "walk.wav"]).exitCode == 0)
    #expect(try place.spool(["deliver", "run", "--once"] + destinations).exitCode == 0)
    #expect(files(in: disk).count >= 3)
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

  @Test("a batch says what a destination has got in one line, below its summary")
  func batchSummary() throws {
    try write("{ folder: \(disk) }")
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [wav] }, { deliver: { to: [nas] } } ]\n")
    try FileManager.default.createDirectory(
      atPath: place.file("in"), withIntermediateDirectories: false)
    for number in 1...3 {
      try Reference.record(place.file("in/take \(number).wav"), seconds: 0.3)
    }
    try "no sound".write(toFile: place.file("in/take 4.wav"), atomically: false, encoding: .utf8)
    let batch = try place.spool(
      ["batch", pipeline, place.file("in"), "--out", place.out] + destinations)
    #expect(batch.exitCode == 3, "\(batch.errorOutput)")
    let lines = batch.text.split(separator: "\n").filter { $0.hasPrefix("delivered ") }
    #expect(lines.count == 1 && lines[0].contains(" files to nas  "), "\(batch.text)")
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
