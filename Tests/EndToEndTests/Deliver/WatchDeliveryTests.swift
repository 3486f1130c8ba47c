import Foundation
import Platform
import TestSupport
import Testing

/// A watch whose pipeline has a deliver stage.
@Suite("A recording is uploaded once every required destination has given it back")
struct WatchDeliveryTests {
  private let inbox: WatchedPlace
  private let place: Workspace
  private let disk: String

  init() throws {
    inbox = try WatchedPlace(delivery: "{ to: nas }")
    place = inbox.place
    disk = place.file("disk")
    try place.folder.write(
      "destinations: { nas: { folder: \(disk) } }\n", to: "destinations.yaml")
  }

  private var options: [String] {
    ["--destinations", place.file("destinations.yaml"), "--keep", "delete"]
  }

  private func files() -> [String] {
    let names = FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".wav") }.map { $0.split(separator: "/").dropFirst(2) }
      .map { $0.joined(separator: "/") }.sorted()
  }

  @Test(
    "what a watch has done is sent to another place by hand, and corrected by hand to the same one")
  func byHand() throws {
    let vault = place.file("vault")
    for folder in [disk, vault] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    }
    try place.folder.write(
      "destinations: { nas: { folder: \(disk) }, vault: { folder: \(vault) } }\n",
      to: "destinations.yaml")
    let named = ["--destinations", place.file("destinations.yaml")]
    try inbox.make(1)
    let watch = try inbox.watch(named)
    let id = "7F3C2A10-0000-4bbb-8ccc-000000000001"
    try place.folder.write(#"{"noteId": "\#(id)"}"#, to: "made/side.json")
    try inbox.shell("mv made/side.json inbox/walk.json; mv made/1.wav inbox/walk.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains("accepted/walk.wav") })
    let delivered = watch.output.split(separator: "\n").filter {
      $0.contains(#""event":"delivered""#)
    }
    #expect(
      !delivered.isEmpty
        && delivered.allSatisfy { $0.contains(#""destination":"nas""#) && $0.contains(#""note":"#) },
      "\(watch.output)")
    // What the watch sends is told by the command that has queued it.
    let byWatch = try place.spool(
      ["deliver", "send", "walk.wav", "--to", "vault", "--what", "exports", "--json"] + named)
    #expect(byWatch.text.contains(#""event":"delivered""#), "\(byWatch.text)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    for name in ["walk.wav", id, "last"] {
      let sent = try place.spool(["deliver", "send", name, "--to", "vault"] + named)
      #expect(sent.exitCode == 0, "\(name): \(sent.errorOutput)")
    }
    let there = FileManager.default.enumerator(atPath: vault)?.compactMap { $0 as? String } ?? []
    #expect(there.contains { $0.hasSuffix("/originals/walk.wav") }, "\(there)")
    #expect(there.contains { $0.hasSuffix("/originals/walk.json") }, "\(there)")

    // As after a correction: the new files lie beside the old ones, and belong to the recording.
    let corrected = try place.pipeline(
      try String(contentsOfFile: inbox.pipeline, encoding: .utf8)
        .replacing("80 Hz", with: "90 Hz"))
    let run = try place.spool(
      ["run", corrected, inbox.inbox + "/accepted/walk.wav", "--out", place.out] + named)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let days = FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    let folders = Set(
      days.filter { $0.hasSuffix("walk.wav") && !$0.contains("originals") }
        .compactMap { $0.split(separator: "/").dropFirst().first })
    let usual = try #require(folders.min { $0.utf8.count < $1.utf8.count })
    #expect(folders == [usual, "\(usual) (2)"] && usual.contains(id), "\(folders)")
    let fetched = try place.spool(
      ["deliver", "fetch", "nas", id, "--out", place.file("back")] + named)
    #expect(fetched.exitCode == 0, "\(fetched.errorOutput)")
    let back =
      FileManager.default.enumerator(atPath: place.file("back"))?
      .compactMap { $0 as? String } ?? []
    #expect(back.contains { $0.hasSuffix(" (2)/walk.wav") }, "\(back)")
    #expect(try inbox.note("walk.wav").state == "uploaded")
  }

  @Test("a disk that is away keeps it uploading, across a kill, and its file in the inbox")
  func away() throws {
    try inbox.make(1)
    var watch = try inbox.watch(options)
    try inbox.shell("cp made/1.wav inbox/walk.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploading" } }, "\(watch.output)")
    let note = try inbox.note("walk.wav")
    #expect(note.state == "uploading")
    #expect(inbox.wait { (try? inbox.acknowledgements()[note.key]?.status) == "uploading" })
    // Nothing was tried yet when it is on its way.
    var status = ""
    inbox.wait {
      status = (try? place.spool(["status"]).text) ?? ""
      return status.contains("mount its disk")
    }
    #expect(status.contains("on the way to nas"), "\(status)")
    #expect(status.contains("mount its disk"), "\(status)")
    #expect(WatchedPlace.files(in: inbox.inbox) == ["walk.wav"])
    watch.kill9()
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    watch = try inbox.watch(options)
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(
      inbox.wait { (try? inbox.acknowledgements()[note.key]?.status) == "uploaded" })
    let text = try String(
      contentsOfFile: "\(inbox.outbox)/\(note.key).ack.json", encoding: .utf8)
    #expect(text.contains(#""copies":2"#) && text.contains(#""places":["nas"]"#), "\(text)")
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).isEmpty })
    #expect(files() == ["originals/walk.wav", "walk.wav"])
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    #expect(!(try place.spool(["status"]).text.contains("single copy")))
    // The store loses its copy: the other one is named, with the way.
    let original = SHA256.digest(
      of: Array(FileManager.default.contents(atPath: place.file("made/1.wav")) ?? Data())
    ).hex
    let kept = FileManager.default.enumerator(atPath: place.store + "/artifacts")?
      .compactMap { $0 as? String }.first { $0.hasSuffix(original) }
    try FileManager.default.removeItem(
      atPath: "\(place.store)/artifacts/\(try #require(kept))")
    let check = try place.spool(["store", "check"])
    #expect(check.exitCode == 4, "\(check.text)")
    let way = "spool deliver fetch nas \(note.key)"
    #expect(check.text.contains(way), "\(check.text)")
    #expect(try place.spool(["inbox", "show", note.key]).text.contains(way))
    let back = ["--out", place.file("back"), "--destinations", place.file("destinations.yaml")]
    let fetched = try place.spool(["deliver", "fetch", "nas", note.key] + back)
    #expect(fetched.exitCode == 0, "\(fetched.errorOutput)")
  }

  @Test(
    "what another process has sent is told once, before the file leaves the inbox",
    arguments: [true, false])
  func sentByOthers(isWatchEnded: Bool) throws {
    try inbox.make(1)
    var watch = try inbox.watch(options)
    try inbox.shell("cp made/1.wav inbox/walk.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploading" } }, "\(watch.output)")
    let key = try inbox.note("walk.wav").key
    if isWatchEnded {
      watch.send(SIGTERM)
      #expect(watch.end() == 0)
    }
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    let sent = try place.spool(
      ["deliver", "run", "--once", "--destinations", place.file("destinations.yaml")])
    #expect(!isWatchEnded || sent.exitCode == 0, "\(sent.errorOutput)")
    if isWatchEnded { watch = try inbox.watch(options) }
    #expect(
      inbox.wait(seconds: 60) { watch.news.contains { $0.event == "released" } },
      "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let events = watch.news.map(\.event).filter { ["uploaded", "released"].contains($0) }
    #expect(events == ["uploaded", "released"], "\(watch.output)")
    let told = watch.output.split(separator: "\n").first { $0.contains(#""event":"uploaded""#) }
    #expect(
      told?.contains("confirmed by nas") == true && told?.contains(key) == true, "\(watch.output)")
    // The next one has nothing to tell.
    let next = try inbox.watch(options)
    #expect(inbox.wait { next.news.contains { $0.event == "watching" } }, "\(next.output)")
    next.send(SIGTERM)
    #expect(next.end() == 0)
    #expect(!next.news.contains { $0.event == "uploaded" }, "\(next.output)")
  }

  @Test(
    "what is corrected while a disk is away is delivered once, whole, and its recording uploaded")
  func correctedWhileAway() throws {
    let other = try WatchedPlace(
      proof: "{}",
      delivery: "{ to: nas, what: [exports, receipt, original] }")
    try other.place.folder.write(
      "destinations: { nas: { folder: \(disk) } }\n", to: "destinations.yaml")
    let named = ["--destinations", other.place.file("destinations.yaml")]
    try other.make(1)
    let watch = try other.watch(named)
    try other.shell("cp made/1.wav inbox/walk.wav")
    #expect(other.wait { (try? other.note("walk.wav").state) == "uploading" }, "\(watch.output)")
    try other.place.folder.write(#"{"title": "Printing"}"#, to: "inbox/walk.json")
    #expect(
      other.wait {
        (try? other.place.spool(["deliver", "queue", "--json"] + named).text.contains("walk.json"))
          == true
      }, "\(watch.output)")
    let corrected = try other.place.pipeline(
      try String(contentsOfFile: other.pipeline, encoding: .utf8)
        .replacing(
          "formats: [wav]", with: "formats: [wav], metadata: { title: Corrected }"))
    let recording = other.inbox + "/walk.wav"
    let run = try other.place.spool(
      ["run", corrected, recording, "--out", other.place.out, "--deliver-wait", "0s"] + named)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try other.note("walk.wav").state == "uploading")

    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    #expect(other.wait { (try? other.note("walk.wav").state) == "uploaded" }, "\(watch.output)")
    var status = try other.place.spool(["status", "--check"])
    // The document and the confirmation follow.
    other.wait {
      status = (try? other.place.spool(["status", "--check"])) ?? status
      return !status.text.contains("nas")
    }
    #expect(status.exitCode == 0, "\(status.text)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let there = FileManager.default.enumerator(atPath: disk)?.compactMap { $0 as? String } ?? []
    let folders = Set(there.compactMap { $0.split(separator: "/").dropFirst().first })
    #expect(folders.count == 2 && !there.contains { $0.contains("(2)") }, "\(there)")
    let outdated = there.filter { $0.contains("/walk-") && !$0.contains("/originals") }
    #expect(outdated.count == 1, "its folder has the original alone: \(there)")
    for ending in [
      "/walk.wav", "/walk.receipt.json", "/walk.recording.json", "/originals/walk.wav",
      "/originals/walk.json",
    ] {
      #expect(there.contains { $0.hasSuffix(ending) }, "\(ending): \(there)")
    }
    let sound = try #require(there.first { $0.hasSuffix("/walk.wav") && !$0.contains("originals") })
    #expect(
      FileManager.default.contentsEqual(
        atPath: "\(disk)/\(sound)", andPath: "\(other.place.out)/walk.wav"))
  }

  @Test("acknowledgement and list say how much is there, also when nothing more happens")
  func progress() throws {
    let other = try WatchedPlace(delivery: "{ to: [cloud, nas] }")
    try other.place.folder.write(
      "destinations: { nas: { folder: \(disk) }, cloud: { folder: \(place.file("cloud")) } }\n",
      to: "destinations.yaml")
    try FileManager.default.createDirectory(
      atPath: place.file("cloud"), withIntermediateDirectories: false)
    try other.make(1)
    let watch = try other.watch(["--destinations", other.place.file("destinations.yaml")])
    try other.shell("cp made/1.wav inbox/walk.wav")
    #expect(other.wait { (try? other.note("walk.wav").state) == "uploading" }, "\(watch.output)")
    let key = try other.note("walk.wav").key
    for name in ["\(key).ack.json", "state.json"] {
      let path = "\(other.outbox)/\(name)"
      let isHalf = other.wait(seconds: 60) {
        (try? String(contentsOfFile: path, encoding: .utf8).contains(#""progress":0.5,"#)) == true
      }
      #expect(isHalf, "\(name): \((try? String(contentsOfFile: path, encoding: .utf8)) ?? "")")
    }
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test("a name that something else has fails the recording, and a retry delivers it")
  func occupied() throws {
    let other = try WatchedPlace(delivery: #"{ to: nas, path: "{name}" }"#)
    try other.place.folder.write(
      "destinations: { nas: { folder: \(disk) } }\n", to: "destinations.yaml")
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try "foreign".write(toFile: disk + "/walk.wav", atomically: false, encoding: .utf8)
    try other.make(1)
    let watch = try other.watch(["--destinations", other.place.file("destinations.yaml")])
    try other.shell("cp made/1.wav inbox/walk.wav")
    #expect(other.wait { (try? other.note("walk.wav").state) == "failed" }, "\(watch.output)")
    let status = try other.place.spool(["status", "--check"])
    #expect(status.exitCode == 1 && status.text.contains("spool deliver retry"), "\(status.text)")
    try FileManager.default.removeItem(atPath: disk + "/walk.wav")
    #expect(try other.place.spool(["deliver", "retry"]).exitCode == 0)
    #expect(other.wait { (try? other.note("walk.wav").state) == "uploaded" }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test("files are not deleted that no second place has, unless that is asked for")
  func single() throws {
    let alone = try WatchedPlace()
    let refused = try alone.place.spool(
      ["watch", alone.pipeline, alone.inbox, "--outbox", alone.outbox, "--keep", "delete"])
    #expect(refused.exitCode == 2)
    #expect(refused.errorOutput.contains("--single-copy"), "\(refused.errorOutput)")
    try alone.make(1)
    let watch = try alone.watch(["--keep", "delete", "--single-copy"])
    #expect(watch.news.contains { $0.event == "warning" }, "\(watch.output)")
    try alone.shell("cp made/1.wav inbox/")
    #expect(alone.wait { watch.news.contains { $0.event == "uploaded" } })
    let note = try alone.note("1.wav")
    #expect(
      alone.wait { (try? alone.acknowledgements()[note.key]?.status) == "uploaded" })
    let text = try String(
      contentsOfFile: "\(alone.outbox)/\(note.key).ack.json", encoding: .utf8)
    #expect(text.contains(#""copies":1"#), "\(text)")
    #expect(try alone.place.spool(["status"]).text.contains("single copy"))
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }
}
