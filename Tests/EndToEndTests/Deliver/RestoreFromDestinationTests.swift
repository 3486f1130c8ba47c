import Foundation
import Platform
import TestSupport
import Testing

/// A computer that is lost, and a new one with the destinations alone.
@Suite("Everything comes back from a destination, and what is wrong there is told")
struct RestoreFromDestinationTests {
  private let inbox: WatchedPlace
  private let place: Workspace
  private let disk: String

  init() throws {
    inbox = try WatchedPlace(delivery: "{ to: nas }")
    place = inbox.place
    disk = place.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
  }

  private var destinations: [String] { ["--destinations", place.file("destinations.yaml")] }

  private func write(_ nas: String) throws {
    try place.folder.write("destinations: { nas: \(nas) }\n", to: "destinations.yaml")
  }

  /// Has a watch take in and deliver recordings, and ends it.
  /// - Returns: their IDs, by the names of their files.
  private func deliver(_ names: [String]) throws -> [String: String] {
    for number in 1...names.count { try inbox.make(number) }
    let watch = try inbox.watch(destinations)
    for (index, name) in names.enumerated() {
      try place.folder.write(
        #"{"noteId": "n-\#(index)", "title": "Walk \#(index)", "tags": ["a", "ü"]}"#,
        to: "made/side.json")
      try inbox.shell(
        "mv made/side.json 'inbox/\(name).json'; cp made/\(index + 1).wav 'inbox/\(name).tmp'; "
          + "mv 'inbox/\(name).tmp' 'inbox/\(name)'")
    }
    #expect(
      inbox.wait { watch.news.filter { $0.event == "uploaded" }.count == names.count },
      "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let sent = try place.spool(["deliver", "run", "--once"] + destinations)
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    return try Dictionary(
      uniqueKeysWithValues: names.map { ($0, try inbox.note($0).key) })
  }

  private func lines(_ result: Program.Result) throws -> [[String: Any]] {
    try result.text.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
  }

  private func files(in folder: String) -> [String: String] {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    var found: [String: String] = [:]
    for name in names where (try? FileStamp(at: "\(folder)/\(name)"))?.isRegularFile == true {
      let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
      found[name] = SHA256.digest(of: Array(bytes)).hex
    }
    return found
  }

  /// Loses the computer, and restores it from the destination, being killed in between.
  private func loseAndRestore(_ ids: [String: String], from there: String) throws {
    let originals = files(in: place.file("made"))
    let delivered = files(in: there)
    try FileManager.default.removeItem(atPath: place.store)
    for name in ["inbox", "out", "made"] {
      try? FileManager.default.removeItem(atPath: place.file(name))
    }
    let restore = ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations
    for round in 1...6 {
      let work = try place.start(restore)
      usleep(UInt32(round) * 20_000)
      work.send(SIGKILL)
      _ = work.ends(within: 60)
      for (name, digest) in files(in: place.file("back")) where !name.contains(".part-") {
        #expect(delivered[name] == digest, "\(name)")
      }
    }
    let result = try place.spool(restore)
    #expect(result.exitCode == 0, "\(result.text) \(result.errorOutput)")
    // All but the originals, which are in the store.
    let back = files(in: place.file("back"))
    #expect(back == delivered.filter { !$0.key.contains("/originals/") })
    for (name, id) in ids {
      let shown = try place.spool(["inbox", "show", id])
      #expect(shown.exitCode == 0 && shown.text.contains(name), "\(shown.text)")
      #expect(shown.text.contains("uploaded"), "\(shown.text)")
      let exported = try place.spool(["inbox", "export", id, "--to", place.file("given")])
      #expect(exported.exitCode == 0, "\(exported.errorOutput)")
    }
    let given = Set(files(in: place.file("given")).values)
    for (name, digest) in originals where name.hasSuffix(".wav") {
      #expect(given.contains(digest), "\(name)")
    }
    let listed = try lines(place.spool(["inbox", "list", "--json"]))
    #expect(Set(listed.compactMap { $0["title"] as? String }) == ["Walk 0", "Walk 1"])
    #expect(listed.allSatisfy { $0["tags"] as? [String] == ["a", "ü"] }, "\(listed)")
    // The store is sound, and knows what the destination has.
    #expect(try place.spool(["store", "check"]).exitCode == 0)
    let missing = try place.spool(["deliver", "missing", "nas", "--json"] + destinations)
    #expect(missing.exitCode == 0 && missing.text.isEmpty, "\(missing.text)")
    let verified = try place.spool(["deliver", "verify", "nas"] + destinations)
    #expect(verified.exitCode == 0, "\(verified.text) \(verified.errorOutput)")
    #expect(!(try place.spool(["status"]).text.contains("single copy")))
    // A second time nothing is done.
    let again = try place.spool(restore)
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(files(in: place.file("back")) == back)
  }

  @Test("a second copy is made again from what came back, under the same paths")
  func secondCopy() throws {
    try write("{ folder: \(disk) }")
    let ids = try deliver(["walk.wav", "memo.wav"])
    let there = files(in: disk)
    try loseAndRestore(ids, from: disk)
    let second = place.file("second")
    try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: false)
    try write("{ folder: \(disk) }, second: { folder: \(second) }")
    let missing = try place.spool(["deliver", "missing", "second"] + destinations)
    let next = try #require(
      missing.errorOutput.split(separator: "\n").first { $0.hasPrefix("next:") })
    let words = next.dropFirst("next:  spool ".count).split(separator: " ").map(String.init)
    #expect(words.starts(with: ["deliver", "send"]), "\(next)")
    let sent = try place.spool(words)
    #expect(sent.exitCode == 0, "\(sent.text)\(sent.errorOutput)")
    // The documents say when this destination confirmed the files.
    func isSame(_ name: String) -> Bool {
      !name.hasSuffix(".recording.json") && !name.contains(".delivered-")
    }
    let copies = files(in: second)
    #expect(copies.filter { isSame($0.key) } == there.filter { isSame($0.key) })
    #expect(copies.keys.filter { $0.hasSuffix(".recording.json") }.count == 2, "\(copies)")
    #expect(try place.spool(["deliver", "verify", "second"] + destinations).exitCode == 0)
    // Nothing is left to do, and what is lost here is told before anything is queued.
    let again = try place.spool(["deliver", "send", "walk.wav", "--to", "second"] + destinations)
    #expect(again.exitCode == 0 && again.text.contains("confirmed all of it before"))
    #expect(files(in: second) == copies)
    try FileManager.default.removeItem(atPath: place.file("back"))
    try write("{ folder: \(disk) }, third: { folder: \(second) }")
    let lost = try place.spool(["deliver", "send", "walk.wav", "--to", "third"] + destinations)
    #expect(lost.exitCode == 1 && lost.errorOutput.contains("put it back"), "\(lost.errorOutput)")
  }

  @Test("both names of two files with the same bytes come back")
  func twoNames() throws {
    try write("{ folder: \(disk) }")
    try inbox.make(1)
    try inbox.shell(
      "mkdir -p tapes/Tape; cp made/1.wav tapes/copy.wav; cp made/1.wav tapes/Tape/side.wav")
    let pipeline = try place.pipeline(
      """
      pipeline: tapes
      inputs: { tape: sound }
      stages: [{ decode: {} }, { export: [flac] }, { deliver: { to: nas, path: "{folder}/{title}-{noteId}/{name}" } }]
      """)
    let batch = try place.spool(
      ["batch", pipeline, place.file("tapes"), "--out", place.file("out")] + destinations)
    #expect(batch.exitCode == 0, "\(batch.errorOutput)")
    // The folders of the collection are kept.
    let folders = Set(files(in: disk).keys.compactMap { $0.split(separator: "/").first })
    #expect(folders.contains("Tape") && folders.count == 2, "\(folders)")
    // The recording is there once, and the exports by both names.
    let names = files(in: disk).keys
    #expect(names.count { $0.contains("/originals/") } == 1, "\(names)")
    #expect(names.count { $0.hasSuffix(".flac") } == 2, "\(names)")
    #expect(names.count { $0.hasSuffix(".recording.json") } == 2, "\(names)")
    #expect(try place.spool(["deliver", "verify", "nas"] + destinations).exitCode == 0)
    try FileManager.default.removeItem(atPath: place.store)
    let back = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations)
    #expect(back.exitCode == 0, "\(back.errorOutput)")
    #expect(try lines(place.spool(["inbox", "list", "--json"])).count == 1)
    for name in ["copy.wav", "side.wav"] {
      let shown = try place.spool(["inbox", "show", name])
      #expect(shown.exitCode == 0 && shown.text.contains(name), "\(name): \(shown.errorOutput)")
    }
    // A second place gets both too.
    let second = place.file("second")
    try FileManager.default.createDirectory(atPath: second, withIntermediateDirectories: false)
    try write("{ folder: \(disk) }, second: { folder: \(second) }")
    let sent = try place.spool(["deliver", "send", "copy.wav", "--to", "second"] + destinations)
    #expect(sent.exitCode == 0, "\(sent.errorOutput)")
    func kinds(_ folder: String) -> [String: Int] {
      files(in: folder).keys.filter { !$0.contains(".delivered-") }
        .reduce(into: [:]) {
          $0[$1.split(separator: ".").last.map(String.init) ?? "", default: 0] += 1
        }
    }
    #expect(kinds(second) == kinds(disk), "\(files(in: second).keys)")
  }

  @Test("from a folder, across kills")
  func folder() throws {
    try write("{ folder: \(disk) }")
    let ids = try deliver(["walk.wav", "ta lk ü.wav"])
    try loseAndRestore(ids, from: disk)
  }

  @Test(
    "from a web server, across kills",
    .enabled(if: LocalServer.hasNginx, "nginx is not installed"))
  func webDAV() throws {
    let server = try LocalServer.nginx(ScratchFolder())
    try write("{ webdav: \"http://127.0.0.1:\(server.port)/Spool\" }")
    let ids = try deliver(["walk.wav", "talk.wav"])
    try loseAndRestore(ids, from: server.folder.file("root/Spool"))
  }

  @Test("what is missing or damaged is told, the rest comes back, and it is sent again")
  func damage() throws {
    try write("{ folder: \(disk) }")
    _ = try deliver(["walk.wav", "talk.wav"])
    let paths = files(in: disk).keys
    let export = try #require(
      paths.first { $0.hasSuffix("/walk.wav") && !$0.contains("originals") })
    let original = try #require(paths.first { $0.hasSuffix("originals/talk.wav") })
    let bytes = try #require(FileManager.default.contents(atPath: "\(disk)/\(export)"))
    try FileManager.default.removeItem(atPath: "\(disk)/\(export)")
    let whole = try #require(FileManager.default.contents(atPath: "\(disk)/\(original)"))
    var spoilt = whole
    spoilt[spoilt.count / 2] ^= 1
    try spoilt.write(to: URL(fileURLWithPath: "\(disk)/\(original)"))
    let verified = try place.spool(["deliver", "verify", "nas", "--json"] + destinations)
    #expect(verified.exitCode == 4, "\(verified.text)")
    let found = try lines(verified)
    #expect(found.count == 3, "\(verified.text)")
    func number(_ finding: String) throws -> String {
      let line = try #require(found.first { $0["finding"] as? String == finding })
      return "\(try #require(line["id"] as? Int))"
    }
    #expect(found.last?["missing"] as? Int == 1 && found.last?["damaged"] as? Int == 1)
    // Restored without them, into another store.
    let other = place.file("other")
    let restored = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back"), "--store", other]
        + destinations)
    #expect(restored.exitCode == 4, "\(restored.text)")
    #expect(restored.errorOutput.contains("missing  nas:\(export)"), "\(restored.errorOutput)")
    #expect(restored.errorOutput.contains("damaged  nas:\(original)"), "\(restored.errorOutput)")
    let listed = try place.spool(["inbox", "list", "--store", other]).text
    #expect(listed.contains("walk.wav") && !listed.contains("talk.wav"), "\(listed)")
    // Sent again; what is damaged has to be moved away first.
    let missing = try number("missing")
    let damaged = try number("damaged")
    #expect(try place.spool(["deliver", "retry", missing, damaged]).exitCode == 0)
    let sent = try place.spool(["deliver", "run", "--once"] + destinations)
    #expect(sent.exitCode == 3, "\(sent.text) \(sent.errorOutput)")
    #expect(FileManager.default.contents(atPath: "\(disk)/\(export)") == bytes)
    #expect(FileManager.default.contents(atPath: "\(disk)/\(original)") == spoilt)
    try FileManager.default.moveItem(atPath: "\(disk)/\(original)", toPath: place.file("bad"))
    #expect(try place.spool(["deliver", "retry", damaged]).exitCode == 0)
    #expect(try place.spool(["deliver", "run", "--once"] + destinations).exitCode == 0)
    #expect(FileManager.default.contents(atPath: "\(disk)/\(original)") == whole)
    #expect(try place.spool(["deliver", "verify", "nas"] + destinations).exitCode == 0)
    // Where it is sound, nothing is sent.
    #expect(try place.spool(["deliver", "retry", damaged]).exitCode == 0)
    #expect(try place.spool(["deliver", "run", "--once"] + destinations).exitCode == 0)
    #expect(files(in: disk).count == paths.count)
    // A destination that is away.
    try FileManager.default.moveItem(atPath: disk, toPath: place.file("unmounted"))
    let away = try place.spool(["deliver", "verify", "nas", "--read", "1%"] + destinations)
    #expect(away.exitCode == 1 && away.errorOutput.contains("mount"), "\(away.errorOutput)")
  }

  @Test("files without a document come back and are told, and hostile documents write nothing")
  func documents() throws {
    try write("{ folder: \(disk) }")
    _ = try deliver(["walk.wav"])
    let document = try #require(files(in: disk).keys.first { $0.hasSuffix(".recording.json") })
    try FileManager.default.removeItem(atPath: "\(disk)/\(document)")
    try FileManager.default.createDirectory(
      atPath: "\(disk)/holiday", withIntermediateDirectories: false)
    try place.folder.write("mine", to: "disk/holiday/photo.jpg")
    let file = #""contentType":"audio/wav","byteCount":4,"sha256":""#
    for (name, path) in [("up", "../up.wav"), ("root", "/tmp/root.wav"), ("nul", "a\\u0000b")] {
      try place.folder.write(
        #"{"uploadedAt":"2025-03-01T00:00:00Z","status":"uploaded","pipeline":"x","originals":["#
          + #"{"path":"\#(path)","name":"\#(path)",\#(file)\#(SHA256.digest(of: "mine").hex)"}],"#
          + #""exports":[],"transcripts":[],"receipts":[]}"#, to: "disk/\(name).recording.json")
    }
    try place.folder.write("{", to: "disk/half.recording.json")
    let restored = try place.spool(
      [
        "store", "restore", "--from", "nas", "--out", place.file("back"), "--json", "--store",
        place.file("other"),
      ] + destinations)
    #expect(restored.exitCode == 4, "\(restored.text)")
    let found = try lines(restored)
    #expect(found.last?["problems"] as? Int == 4, "\(restored.text)")
    #expect(found.last?["recordings"] as? Int == 0)
    let unnamed = found.filter { $0["finding"] as? String == "unnamed" }
      .compactMap { $0["path"] as? String }
    #expect(unnamed.contains { $0.hasSuffix("originals/walk.wav") }, "\(unnamed)")
    for (name, digest) in files(in: place.file("back")) where unnamed.contains(name) {
      #expect(files(in: disk)[name] == digest)
    }
    #expect(!FileManager.default.fileExists(atPath: place.file("up.wav")))
    #expect(!FileManager.default.fileExists(atPath: "/tmp/root.wav"))
  }

  @Test("files of one recording are fetched, never over another file")
  func fetched() throws {
    try write("{ folder: \(disk) }")
    let id = try #require(try deliver(["walk.wav"])["walk.wav"])
    let fetch = ["deliver", "fetch", "nas", id, "--out", place.file("got")] + destinations
    let first = try place.spool(fetch + ["--what", "original"])
    #expect(first.exitCode == 0, "\(first.errorOutput)")
    var got = files(in: place.file("got"))
    #expect(!got.isEmpty && got.keys.allSatisfy { $0.contains("/originals/") }, "\(got)")
    let export = try #require(
      files(in: disk).keys.first { $0.hasSuffix("/walk.wav") && !$0.contains("originals") })
    try place.folder.write("mine", to: "got/\(export)")
    let second = try place.spool(fetch)
    #expect(
      second.exitCode == 1 && second.errorOutput.contains("another file"), "\(second.errorOutput)")
    #expect(second.text.contains("there already"), "\(second.text)")
    got = files(in: place.file("got"))
    #expect(got[export] == SHA256.digest(of: "mine").hex)
    for (name, digest) in got where name != export { #expect(files(in: disk)[name] == digest) }
    #expect(!got.keys.contains { $0.contains(".part-") })
    // Nothing of it is known elsewhere.
    let none = try place.spool(["deliver", "fetch", "nas", "nothing"] + destinations)
    #expect(none.exitCode == 2, "\(none.errorOutput)")
  }

  @Test(
    "a sidecar and a text come back with their recording, also where a copy without them is newer")
  func copied() throws {
    try write("{ folder: \(disk) }")
    let pipeline = try place.pipeline(
      "pipeline: kept\nstages: [ decode, { export: [flac] }, { deliver: { to: nas } } ]\n")
    try FileManager.default.createDirectory(
      atPath: place.file("copies"), withIntermediateDirectories: false)
    try Reference.record(place.file("walk.wav"), seconds: 0.3)
    try FileManager.default.copyItem(
      atPath: place.file("walk.wav"), toPath: place.file("copies/zcopy.wav"))
    try place.folder.write(#"{"title": "Bee", "createdAt": "1999-02-03"}"#, to: "walk.json")
    try place.folder.write(
      #"File type = "ooTextFile" Object class = "TextGrid" 0 1 <exists> 1 "IntervalTier" "#
        + #""words" 0 1 1 0 1 "bee""#, to: "walk.TextGrid")
    let with = try place.pipeline(
      """
      pipeline: kept
      inputs: { tape: sound, text: transcript? }
      stages: [ decode: { from: $tape }, { export: [flac] }, { deliver: { to: nas } } ]

      """)
    for (pipeline, name) in [(with, "walk.wav"), (pipeline, "copies/zcopy.wav")] {
      let run = try place.run(pipeline, [place.file(name)] + destinations)
      #expect(run.exitCode == 0, "\(run.errorOutput)")
    }
    #expect(files(in: disk).keys.contains { $0.hasSuffix("/originals/walk.TextGrid") })
    try FileManager.default.removeItem(atPath: place.store)
    let back = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations)
    #expect(back.exitCode == 0, "\(back.errorOutput)")
    let list = try lines(place.spool(["inbox", "list", "--json"]))
    #expect(list.count == 1 && list.first?["title"] as? String == "Bee", "\(list)")
    let key = try #require(list.first?["key"] as? String)
    #expect(try place.spool(["inbox", "export", key, "--to", place.file("own")]).exitCode == 0)
    let own = Set(files(in: place.file("own")).values)
    for name in ["walk.wav", "walk.json", "walk.TextGrid"] {
      let bytes = try Data(contentsOf: URL(fileURLWithPath: place.file(name)))
      #expect(own.contains(SHA256.digest(of: Array(bytes)).hex), "\(name)")
    }
  }

  @Test(
    "a noteId that two recordings claim stays with the first, and a length that its container has")
  func claimedIdentity() throws {
    try write("{ folder: \(disk) }")
    let id = "7C1E4B0A-52D3-4E8F-9A16-3B0D2F6C8E41"
    let watch = try inbox.watch(destinations)
    for number in 1...2 {
      try inbox.make(number)
      try place.folder.write(#"{"noteId": "\#(id)"}"#, to: "made/side.json")
      try inbox.shell(
        "mv made/side.json inbox/\(number).json; cp made/\(number).wav inbox/\(number).wav")
      if number == 1 {
        #expect(inbox.wait { (try? inbox.note("1.wav").state) == "uploaded" }, "\(watch.output)")
      } else {
        #expect(inbox.wait { (try? inbox.note("2.wav").state) == "quarantined" }, "\(watch.output)")
        #expect(try place.spool(["inbox", "release", "2.wav"]).exitCode == 0)
        #expect(inbox.wait { (try? inbox.note("2.wav").state) == "uploaded" }, "\(watch.output)")
      }
    }
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let first = try inbox.note("1.wav").key
    #expect(try inbox.note(id).key == first)
    let before = try place.spool(["inbox", "show", "1.wav"]).text
    #expect(before.contains("duration:"), "\(before)")
    try FileManager.default.removeItem(atPath: place.store)
    let back = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations)
    #expect(back.exitCode == 0, "\(back.errorOutput)")
    let after = try place.spool(["inbox", "show", id]).text
    #expect(after.contains("recording: \(first)") && after.contains("duration:"), "\(after)")
  }
}
