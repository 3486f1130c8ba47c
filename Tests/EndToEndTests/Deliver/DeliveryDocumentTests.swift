import Foundation
import Platform
import TestSupport
import Testing

/// What follows delivered files, by the built program: the document about them, and the confirmation.
@Suite("Delivered files are followed by a document about them, and by a signed confirmation")
struct DeliveryDocumentTests {
  private let place: Workspace
  private let disk: String
  private let recording: String

  init() throws {
    place = try Workspace()
    disk = place.file("disk")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try place.folder.write(
      "destinations: { nas: { folder: \(disk) } }\n", to: "destinations.yaml")
    recording = place.file("walk.wav")
    try Reference.record(recording, seconds: 0.3)
  }

  private var destinations: [String] { ["--destinations", place.file("destinations.yaml")] }

  private func pipeline(
    gain: String = "0 dB", _ delivery: String = #"{ to: nas, path: "walks/{stem}.{ext}" }"#
  ) throws -> String {
    try place.pipeline(
      "pipeline: proven\ninputs: { note: sound }\nstages:\n  - decode\n  - gain: { gain: \(gain) }\n"
        + "  - export: [wav, m4a]\n  - proof\n  - deliver: \(delivery)\n")
  }

  private func run(_ pipeline: String, _ options: [String] = []) throws -> Program.Result {
    try place.spool(["run", pipeline, recording, "--out", place.out] + options + destinations)
  }

  /// The files at the destination.
  private func there() -> [String] {
    (FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? [])
      .filter { (try? FileStamp(at: "\(disk)/\($0)"))?.isRegularFile == true }.sorted()
  }

  private func json(_ path: String) throws -> [String: Any] {
    try JSONSerialization.jsonObject(
      with: Data(contentsOf: URL(fileURLWithPath: path))) as? [String: Any] ?? [:]
  }

  private func queue() throws -> [[String: Any]] {
    try place.spool(["deliver", "queue", "--all", "--json"]).text.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
  }

  private func verify(_ path: String) throws -> (code: Int32, text: String) {
    let result = try place.spool(["verify", path, "--no-ledger"])
    return (result.exitCode, result.text + result.errorOutput)
  }

  @Test("both are there after a run, are sound beside the receipt and in a copy, and come once")
  func once() throws {
    let pipeline = try pipeline(gain: "0 dB", "{ to: nas }")
    let first = try run(pipeline)
    #expect(first.exitCode == 0, "\(first.errorOutput)")
    let files = there()
    let folder = try #require(
      files.first { $0.hasSuffix("walk.recording.json") }?.dropLast("/walk.recording.json".count))
    let document = try json("\(disk)/\(folder)/walk.recording.json")
    #expect(document["storagePath"] as? String == "\(folder)/originals/walk.wav")
    #expect((document["exports"] as? [Any])?.count == 2)
    #expect(files.contains("\(folder)/walk.delivered-nas.json"), "\(files)")
    #expect(place.exports.contains("walk.delivered-nas.json"), "\(place.exports)")
    let confirmed = try verify(place.out)
    #expect(confirmed.code == 0 && confirmed.text.contains("confirmed "), "\(confirmed.text)")
    let copy = try verify("\(disk)/\(folder)")
    #expect(copy.code == 0 && !copy.text.contains("of which"), "\(copy.text)")
    // The signature covers originals and the document too, which the receipt does not.
    try "{}".write(
      toFile: "\(disk)/\(folder)/walk.recording.json", atomically: false, encoding: .utf8)
    let changed = try verify("\(disk)/\(folder)")
    #expect(changed.code == 4 && changed.text.contains("walk.recording.json"), "\(changed.text)")
    let count = try queue().count
    let again = try run(pipeline)
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    _ = try place.spool(["deliver", "send", "last", "--to", "nas"] + destinations)
    #expect(there() == files)
    #expect(try queue().count == count)
    let check = try place.spool(["store", "check"])
    #expect(check.exitCode == 0, "\(check.text)")
  }

  @Test(
    "changed exports are followed by new ones with a number, and the old confirmation is an earlier one"
  )
  func changed() throws {
    #expect(try run(try pipeline()).exitCode == 0)
    let second = try run(try pipeline(gain: "-3 dB"))
    #expect(second.exitCode == 0, "\(second.errorOutput)")
    let files = there()
    for name in ["walk (2).m4a", "walk.recording (2).json", "walk.delivered-nas (2).json"] {
      #expect(files.contains("walks/\(name)"), "\(name) in \(files)")
    }
    #expect(place.exports.contains("walk.delivered-nas (2).json"))
    let result = try verify(place.out)
    #expect(result.code == 0 && result.text.contains("earlier version"), "\(result.text)")
    let json = try place.spool(["verify", place.out, "--json", "--no-ledger"]).text
    #expect(json.contains(#""confirmation":"#) && json.contains(#""destination":"nas""#))
  }

  @Test("a file of another program in the confirmation's place beside the receipt stays")
  func foreign() throws {
    try FileManager.default.createDirectory(atPath: place.out, withIntermediateDirectories: false)
    try place.folder.write("mine", to: "out/walk.delivered-nas.json")
    #expect(try run(try pipeline()).exitCode == 0)
    #expect(
      try String(contentsOfFile: place.out + "/walk.delivered-nas.json", encoding: .utf8) == "mine")
    #expect(place.exports.contains("walk.delivered-nas (2).json"), "\(place.exports)")
  }

  @Test("a key whose passphrase nobody gave holds up the confirmation alone, and says what to type")
  func passphrase() throws {
    let file = try place.folder.write("grau ist alle Theorie\n", to: "passphrase")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
    let setsid = try #require(Program(named: "setsid"))
    func detached(_ words: [String]) throws -> Program.Result {
      try setsid.run(
        ["--wait", SpoolProgram.program.path] + words, environment: place.environment,
        folder: place.folder.path)
    }
    #expect(
      try detached(["proof", "key", "passphrase", "--new-passphrase-file", file]).exitCode == 0)
    let run = try detached(
      [
        "run", try pipeline(), recording, "--out", place.out, "--deliver-wait", "0",
        "--passphrase-file", file,
      ] + destinations)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    try FileManager.default.moveItem(atPath: file, toPath: file + "-elsewhere")
    let sent = try detached(["deliver", "run", "--once"] + destinations)
    #expect(sent.exitCode == 3, "\(sent.errorOutput)")
    #expect(there().contains("walks/walk.recording.json"))
    for command in [["deliver", "queue"], ["status"]] {
      let text = try place.spool(command).text
      #expect(text.contains("--passphrase-file FILE"), "\(text)")
    }
    let signed = try detached(
      ["deliver", "run", "--once", "--passphrase-file", file + "-elsewhere"] + destinations)
    #expect(signed.exitCode == 0, "\(signed.errorOutput)")
    #expect(there().contains("walks/walk.delivered-nas.json"))
    #expect(try verify(place.out).code == 0)
  }

  @Test("killed before any change of disk or database, there is one of each in the end")
  func killed() throws {
    let run = try run(try pipeline(gain: "0 dB", "{ to: nas }"), ["--deliver-wait", "0"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let folders = [place.store, disk, place.out]
    func copy(_ from: (String) -> String, _ to: (String) -> String) throws {
      for folder in folders {
        try? FileManager.default.removeItem(atPath: to(folder))
        try FileManager.default.copyItem(atPath: from(folder), toPath: to(folder))
      }
    }
    try copy({ $0 }, { $0 + "-before" })
    // Each number is met by some test run.
    var number = Int.random(in: 1...5)
    while true {
      let sending = ["deliver", "run", "--once", "--quiet"] + destinations
      let killed = try place.spool(sending, environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
      let rest = try place.spool(sending)
      #expect(rest.exitCode == 0, "before \(number): \(rest.errorOutput)")
      let all = there()
      for (folder, files) in [("the destination", all), ("the exports", place.exports)] {
        let confirmations = files.filter { $0.contains(".delivered-") }
        #expect(confirmations.count == 1, "before \(number), in \(folder): \(confirmations)")
      }
      #expect(all.count { $0.contains(".recording") } == 1, "before \(number): \(all)")
      #expect(!all.contains { $0.contains(".part-") }, "before \(number): \(all)")
      for folder in [place.out, disk] {
        let result = try verify(folder)
        #expect(result.code == 0, "before \(number): \(result.text)")
      }
      if killed.exitCode == 0 { break }
      number += 5
      try copy({ $0 + "-before" }, { $0 })
    }
    #expect(number > 60, "it was killed in all that it does")
  }

  @Test(
    "a WebDAV server gets both, and what is fetched back from it is verified",
    .enabled(if: LocalServer.hasNginx, "nginx is not installed"))
  func webDAV() throws {
    let server = try LocalServer.nginx(ScratchFolder())
    try place.folder.write(
      "destinations: { cloud: { webdav: 'http://127.0.0.1:\(server.port)/Spool' } }\n",
      to: "destinations.yaml")
    let run = try run(try pipeline(gain: "0 dB", "{ to: cloud, path: '{what}/{name}' }"))
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let copy = place.file("copy")
    let root = server.folder.file("root/Spool")
    try FileManager.default.copyItem(atPath: root, toPath: copy)
    #expect(Workspace.names(in: copy) == ["exports", "metadata", "original", "receipt"])
    #expect(Workspace.names(in: copy + "/metadata") == ["walk.recording.json"])
    let confirmation = copy + "/receipt/walk.delivered-cloud.json"
    let sound = try verify(confirmation)
    #expect(sound.code == 0 && !sound.text.contains("of which"), "\(sound.text)")
    try "other".write(toFile: copy + "/exports/walk.wav", atomically: false, encoding: .utf8)
    let changed = try verify(confirmation)
    #expect(changed.code == 4 && changed.text.contains("walk.wav"), "\(changed.text)")
  }

  @Test(
    "a recording of an inbox is uploaded once its document is there, with what its sidecar says")
  func watched() throws {
    let inbox = try WatchedPlace(proof: "{}", delivery: "{ to: [nas, other] }")
    let disks = ["nas", "other"].map { inbox.place.file($0) }
    try FileManager.default.createDirectory(
      atPath: disks[0], withIntermediateDirectories: false)
    try inbox.place.folder.write(
      "destinations: { nas: { folder: \(disks[0]) }, other: { folder: \(disks[1]) } }\n",
      to: "destinations.yaml")
    try inbox.make(1)
    let watch = try inbox.watch(["--destinations", inbox.place.file("destinations.yaml")])
    let identity = "5f1f1f0e-7f5a-4c55-9d3c-0a6f1c1b2d3e"
    try inbox.place.folder.write(
      #"{"noteId": "\#(identity)", "title": "Walk", "watchModel": "Watch7,5"}"#, to: "inbox/1.json")
    try inbox.shell("cp made/1.wav inbox/1.wav")
    func files(_ disk: String) -> [String] {
      FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    }
    #expect(
      inbox.wait { files(disks[0]).contains { $0.hasSuffix("1.delivered-nas.json") } },
      "\(watch.output)")
    #expect(try inbox.note("1.wav").state == "uploading", "the other disk has nothing")
    try FileManager.default.createDirectory(
      atPath: disks[1], withIntermediateDirectories: false)
    #expect(inbox.wait { (try? inbox.note("1.wav").state) == "uploaded" }, "\(watch.output)")
    let name = try #require(files(disks[1]).first { $0.hasSuffix("1.recording.json") })
    let document = try json("\(disks[1])/\(name)")
    #expect(document["noteId"] as? String == identity && document["title"] as? String == "Walk")
    #expect((document["device"] as? [String: String]) == ["watchModel": "Watch7,5"])
    let originals = document["originals"] as? [[String: Any]] ?? []
    #expect(originals.map { $0["name"] as? String } == ["1.wav", "1.json"])
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test("a sidecar and a title that come when the files are delivered are delivered too")
  func afterwards() throws {
    let inbox = try WatchedPlace(delivery: "{ to: nas }")
    let disk = inbox.place.file("nas")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try inbox.place.folder.write(
      "destinations: { nas: { folder: \(disk) } }\n", to: "destinations.yaml")
    try inbox.make(1)
    let watch = try inbox.watch(
      ["--destinations", inbox.place.file("destinations.yaml"), "--sidecar", "1s"])
    try inbox.shell("cp made/1.wav inbox/1.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    let key = try inbox.note("1.wav").key
    func files() -> [String] {
      (FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? [])
        .filter { $0.contains("/1.") || $0.contains("/1 ") }.sorted()
    }
    // A place that the pipeline does not name: what it will not learn is told.
    let other = inbox.place.file("other")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    try inbox.place.folder.write(
      "destinations: { nas: { folder: \(disk) }, other: { folder: \(other) } }\n",
      to: "destinations.yaml")
    let byHand = try inbox.place.spool(
      ["deliver", "send", key, "--to", "other", "--deliver-wait", "0"]
        + ["--destinations", inbox.place.file("destinations.yaml")])
    #expect(byHand.exitCode == 0, "\(byHand.errorOutput)")
    let first = files()
    func documents() throws -> [[String: Any]] {
      try files().filter { $0.contains(".recording") }.map { try json("\(disk)/\($0)") }
    }
    try inbox.shell(#"echo '{"title":"By the sea"}' > inbox/1.json"#)
    #expect(
      inbox.wait { (try? documents().contains { $0["title"] as? String == "By the sea" }) == true },
      "\(files()) \(watch.output)")
    #expect(
      inbox.wait { watch.output.contains("spool deliver send \(key) --to other") },
      "\(watch.output)")
    #expect(!watch.output.contains("deliver send \(key) --to nas"), "\(watch.output)")
    // It lies with the files that are there.
    let added = Set(files()).subtracting(first)
    #expect(added.count == 2 && added.contains { $0.hasSuffix("/originals/1.json") }, "\(added)")
    #expect(Set(files().compactMap { $0.split(separator: "/").dropFirst().first }).count == 1)

    try inbox.shell(
      #"""
      echo '{"command":"rename","title":"At the lake","noteId":"\#(key)"}' > x
      mv x inbox/c1.command.json
      """#)
    #expect(
      inbox.wait {
        (try? documents().contains { $0["title"] as? String == "At the lake" }) == true
      },
      "\(files()) \(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }
}
