import Foundation
import TestSupport
import Testing

/// Real programs bring recordings as phones, browsers and syncing programs do.
@Suite("A watch takes in whatever arrives, once and whole")
struct WatchArrivalTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  @Test("however it is brought, each recording is processed once, and its file leaves the inbox")
  func waysOfBringing() throws {
    for number in 1...6 { try inbox.make(number, seconds: number == 1 ? 3 : 0.3) }
    let watch = try inbox.watch()
    // 50 kB/s, in pieces, through one open file.
    let slow = try inbox.begin(
      "exec 3>inbox/slow.wav; for i in $(seq 0 19); do "
        + "dd if=made/1.wav bs=5000 skip=$i count=1 status=none >&3; sleep 0.1; done")
    try inbox.shell("cp made/2.wav x.wav; mv x.wav inbox/moved.wav")
    try inbox.shell("head -c 4000 made/3.wav > inbox/over.wav; sleep 0.2; cp made/3.wav y.wav")
    try inbox.shell("mv y.wav inbox/over.wav")
    try inbox.shell(
      "head -c 3000 made/4.wav > inbox/.syncthing.four.wav.tmp; sleep 0.5; "
        + "cat made/4.wav > inbox/.syncthing.four.wav.tmp; "
        + "mv inbox/.syncthing.four.wav.tmp inbox/four.wav")
    try inbox.shell("cp made/5.wav inbox/old.wav; touch -d 2001-01-01 inbox/old.wav")
    try inbox.shell("mkdir -p 'inbox/a b'; ln made/6.wav 'inbox/a b/linked.wav'")
    #expect(try settled(6))
    slow.waitUntilExit()
    #expect(
      WatchedPlace.files(in: place.out) == [
        "a b/linked.wav", "four.wav", "moved.wav", "old.wav", "over.wav", "slow.wav",
      ])
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox).allSatisfy { $0.hasPrefix("accepted/") } })
    #expect(WatchedPlace.files(in: inbox.inbox).count == 6)
    // What was accepted is what was brought, to the byte.
    let accepted = inbox.inbox + "/accepted/slow.wav"
    #expect(FileManager.default.contentsEqual(atPath: accepted, andPath: place.file("made/1.wav")))
    // The log follows the ledger.
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } >= 6 })
    #expect(watch.news.count { $0.event == "uploaded" } == 6)
  }

  @Test("a recording that comes again is acknowledged, and not processed again")
  func duplicates() throws {
    try inbox.make(1)
    let first = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/first.wav")
    #expect(try settled(1))
    first.send(SIGTERM)
    #expect(first.end() == 0)
    let second = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/again.wav")
    // The same sound in another wrapping: a chunk that says nothing about the sound.
    try inbox.shell(
      "cp made/1.wav inbox/longer.wav; printf 'LIST\\4\\0\\0\\0abcd' >> inbox/longer.wav")
    #expect(inbox.wait { second.news.count { $0.event == "duplicate" } == 2 })
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).count == 3 })
    #expect(
      inbox.wait {
        (try? inbox.acknowledgements())?.values.allSatisfy { $0.status == "uploaded" } == true
      })
    #expect(WatchedPlace.files(in: place.out) == ["first.wav"])
    #expect(!second.news.contains { $0.event == "uploaded" })
    // The run that found out is given up, and nothing offers to resume it.
    func runs() throws -> String { try place.spool(["runs", "list", "--json"]).text }
    #expect(inbox.wait { (try? runs().contains(#""state":"dropped""#)) == true })
    #expect(try !runs().contains(#""state":"interrupted""#))
    #expect(try !place.spool(["status"]).text.contains("spool resume"))
    #expect(try place.spool(["resume"]).text.hasPrefix("nothing to go on with"))
    second.send(SIGTERM)
    #expect(second.end() == 0)
    // Named by each of its files, it is forgotten once.
    let forgotten = try place.spool(["inbox", "forget", "first.wav", "again.wav"])
    #expect(forgotten.exitCode == 0, "\(forgotten.errorOutput)")
    #expect(forgotten.text.components(separatedBy: "forgotten: ").count == 2, "\(forgotten.text)")
    #expect(
      forgotten.errorOutput.contains("when its inbox is watched next"), "\(forgotten.errorOutput)")
  }

  @Test("one noteId with other bytes is a conflict: both recordings are kept, and it is told")
  func conflict() throws {
    try inbox.make(1)
    try inbox.make(2)
    let sidecar = #"{"noteId":"7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41"}"#
    let watch = try inbox.watch()
    try inbox.shell("echo '\(sidecar)' > inbox/one.json; cp made/1.wav inbox/one.wav")
    #expect(try settled(1))
    try inbox.shell("echo '\(sidecar)' > inbox/two.json; cp made/2.wav inbox/two.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "conflict" } })
    let notes = try inbox.notes()
    #expect(notes.map(\.state).sorted() == ["quarantined", "uploaded"])
    #expect(notes.contains { $0.conflict != nil })
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains("quarantine/two.wav") })
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains("accepted/one.wav") })
    #expect(WatchedPlace.files(in: place.out) == ["one.wav"])
    // Let in by hand, it is processed like any other.
    let conflict = try #require(notes.first { $0.conflict != nil })
    // A run of the same bytes by hand is not its own.
    let byHand = ["run", inbox.pipeline, place.file("made/2.wav"), "--out", place.file("by-hand")]
    #expect(try place.spool(byHand).exitCode == 0)
    let shown = try place.spool(["inbox", "show", conflict.key]).text
    #expect(!shown.contains("by-hand"), "\(shown)")
    #expect(try place.spool(["inbox", "release", conflict.key]).exitCode == 0)
    #expect(try settled(2))
    #expect(WatchedPlace.files(in: place.out) == ["one.wav", "two.wav"])
  }

  @Test("a sidecar may come first, late, broken or never")
  func sidecars() throws {
    for number in 1...4 { try inbox.make(number) }
    let watch = try inbox.watch()
    try inbox.shell(
      #"echo '{"title":"First"}' > inbox/first.json; sleep 0.3; cp made/1.wav inbox/first.wav"#)
    try inbox.shell("cp made/2.wav inbox/late.wav")
    try inbox.shell(#"echo '{"title":' > inbox/broken.json; cp made/3.wav inbox/broken.wav"#)
    try inbox.shell("cp made/4.wav inbox/never.wav")
    #expect(try settled(4))
    try inbox.shell(#"echo '{"title":"Late"}' > inbox/late.json"#)
    #expect(inbox.wait { watch.news.contains { $0.event == "sidecar" } })
    let titles = Dictionary(
      try inbox.notes().map { ($0.file, $0.title) }, uniquingKeysWith: { first, _ in first })
    #expect(titles["first.wav"] == "First")
    // The name gave a title already, which the late sidecar does not take away.
    #expect(titles["never.wav"] == "never")
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox).allSatisfy { $0.hasPrefix("accepted/") } })
    #expect(WatchedPlace.files(in: inbox.inbox).count == 7)
  }

  @Test("what is no recording is left alone or quarantined, and stops nobody")
  func strangers() throws {
    try inbox.make(1)
    try inbox.make(2)
    let watch = try inbox.watch()
    try inbox.shell(
      "mkfifo inbox/pipe.wav; ln -s /etc/passwd inbox/passwd.wav; : > inbox/empty.wav; "
        + "echo Hello > inbox/note.txt")
    try inbox.shell("head -c 5000 /dev/urandom > inbox/noise.wav")
    try inbox.shell("cp made/1.wav inbox/good.wav")
    try inbox.shell(#"cp made/2.wav $'inbox/-rf $(touch x)\n\xff;`id`.wav'"#)
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 })
    #expect(inbox.wait { watch.news.count { $0.event == "refused" } == 2 })
    // The reason is written once the file is where it belongs.
    let reasonName = "quarantine/noise.wav.reason.json"
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains(reasonName) })
    #expect(WatchedPlace.files(in: inbox.inbox).contains("quarantine/noise.wav"))
    let reason = try String(
      contentsOfFile: inbox.inbox + "/" + reasonName, encoding: .utf8)
    #expect(reason.contains("not a recording"))
    #expect(!FileManager.default.fileExists(atPath: place.file("x")))
    // Every name that leaves the store is harmless.
    let exports = WatchedPlace.files(in: place.out)
    #expect(exports.count == 2 && exports.contains("good.wav"))
    let harmless = exports.allSatisfy { name in
      name.unicodeScalars.allSatisfy { $0.value >= 0x20 && !"$`;\\\"'".unicodeScalars.contains($0) }
        && !name.hasPrefix("-")
    }
    #expect(harmless, "\(exports)")
    var status = stat()
    #expect(unsafe lstat(inbox.inbox + "/passwd.wav", &status) == 0)
    let emptyReason = "quarantine/empty.wav.reason.json"
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains(emptyReason) })
    // What is no recording is nobody's business, and `status` knows it.
    #expect(WatchedPlace.files(in: inbox.inbox).contains("note.txt"))
    #expect(!watch.news.contains { $0.file == "note.txt" })
    #expect(
      try inbox.wait {
        try place.spool(["status"]).text.contains("ignored, no recordings: note.txt")
      })
    let told = try place.spool(["status"]).text
    #expect(told.contains("passwd.wav: it is a symbolic link"), "\(told)")
    #expect(told.contains("watched by process \(watch.number)"))
  }

  @Test("a recording that is cut off is given up, and its device may send it again")
  func cutOff() throws {
    try inbox.make(1, seconds: 2)
    let sidecar = #"{"noteId":"7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41"}"#
    let watch = try inbox.watch(["--give-up", "2s"])
    try inbox.shell(
      "echo '\(sidecar)' > inbox/n.json; head -c 9000 made/1.wav > x.wav; mv x.wav inbox/n.wav")
    let reason = "quarantine/n.wav.reason.json"
    #expect(
      inbox.wait {
        Set(WatchedPlace.files(in: inbox.inbox)).isSuperset(of: [reason, "quarantine/n.json"])
      }, "\(watch.output)")
    #expect(inbox.wait { (try? inbox.acknowledgements())?.first?.value.status == "quarantined" })
    try inbox.shell(
      "echo '\(sidecar)' > inbox/n.json; cp made/1.wav x.wav; mv x.wav inbox/n.wav")
    #expect(try settled(1))
    let id = "7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41"
    #expect(
      inbox.wait { (try? inbox.acknowledgements())?[id]?.status == "uploaded" }, "\(watch.output)")
    #expect(WatchedPlace.files(in: place.out) == ["n.wav"])
  }

  @Test("the sidecar that a device sends again ahead of its recording waits for it")
  func sidecarAgain() throws {
    try inbox.make(1, seconds: 2)
    let sidecar = #"{"noteId":"7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41","title":"Harbour"}"#
    let watch = try inbox.watch(["--give-up", "2s"])
    try inbox.shell(
      "echo '\(sidecar)' > inbox/n.json; head -c 9000 made/1.wav > x.wav; mv x.wav inbox/n.wav")
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox).contains("quarantine/n.json") },
      "\(watch.output)")
    try inbox.shell("echo '\(sidecar)' > inbox/n.json")
    // It has settled when `status` says what it waits for.
    #expect(
      try inbox.wait {
        try place.spool(["status"]).text.contains("its recording has not been taken in")
      }, "\(watch.output)")
    #expect(WatchedPlace.files(in: inbox.inbox).contains("n.json"))
    try inbox.shell("cp made/1.wav x.wav; mv x.wav inbox/n.wav")
    #expect(try settled(1))
    #expect(try inbox.notes().contains { $0.state == "uploaded" && $0.title == "Harbour" })
  }

  @Test("a sidecar sets what the pipeline marks as overridable, and nothing else")
  func overrides() throws {
    for number in 1...3 { try inbox.make(number) }
    let text = try String(contentsOfFile: place.file("pipeline.yaml"), encoding: .utf8)
    _ = try place.pipeline(
      text.replacing(
        "stages:", with: "vars:\n  level: { value: -3 dB, overridable: true }\nstages:"
      )
      .replacing("peak: -3 dB", with: "peak: $level"))
    let watch = try inbox.watch()
    for (number, value) in [
      (1, #"{"level":"-9 dB"}"#), (2, #"{"secret":1}"#), (3, #"{"level":[]}"#),
    ] {
      try inbox.shell(
        "echo '{\"spool\":{\"set\":\(value)}}' > inbox/\(number).json; "
          + "cp made/\(number).wav inbox/\(number).wav")
    }
    #expect(inbox.wait { watch.news.count { $0.event == "quarantined" } == 2 }, "\(watch.output)")
    #expect(try settled(1))
    let reasons = try inbox.notes().compactMap(\.reason).sorted()
    #expect(reasons.contains { $0.contains("no variable \"secret\"") }, "\(reasons)")
    #expect(reasons.contains { $0.contains("wrong value") }, "\(reasons)")
    let shown = try place.spool(["runs", "show", "1.wav"])
    #expect(shown.text.contains("level") && shown.text.contains("-9 dB"), "\(shown.text)")
    let run = try place.spool(
      ["run", "pipeline.yaml", "made/1.wav", "--set", "level=-9 dB", "--out", "by-hand"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      FileManager.default.contentsEqual(
        atPath: place.out + "/1.wav", andPath: place.file("by-hand/1.wav")))
  }

  @Test("each recording is decoded once: its only run made the decode, and was accepted by it")
  func decodedOnce() throws {
    try inbox.make(1)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(try settled(1), "\(watch.output)")
    let runs = try place.spool(["runs", "--json"]).text.split(separator: "\n")
    #expect(runs.count == 1, "\(runs)")
    let record = try #require(runs.first)
    #expect(record.contains(#""id":"decode""#) && !record.contains("reused"), "\(record)")
    let note = try #require(try inbox.notes().first)
    let page = try place.spool(["inbox", "show", note.key]).text
    #expect(page.split(separator: "\n").contains { $0.hasSuffix("decoded") }, "\(page)")
  }

  @Test("the same recording in two inboxes at one moment is processed once, and told to both")
  func twins() throws {
    for number in 1...4 { try inbox.make(number) }
    try inbox.shell("mkdir second")
    _ = try place.folder.write(
      """
      inboxes:
        - { inbox: inbox, pipeline: pipeline.yaml, out: out, outbox: outbox, settle: 300 ms }
        - { inbox: second, pipeline: pipeline.yaml, out: out, outbox: box2, settle: 300 ms }
      """, to: "watch.yaml")
    let watch = try RunningWatch(
      try SpoolProgram.program, ["watch", "--config", "watch.yaml", "--json"],
      environment: place.environment, folder: place.folder.path)
    inbox.wait { watch.news.count { $0.event == "watching" } == 2 }
    for number in 1...4 {
      // Two pairs are equal to the byte, two only to the ear.
      try inbox.shell("cp made/\(number).wav a.wav; cp made/\(number).wav b.wav")
      if number > 2 { try inbox.shell("printf 'LIST\\4\\0\\0\\0abcd' >> b.wav") }
      try inbox.shell("mv a.wav inbox/n\(number).wav; mv b.wav second/n\(number).wav")
    }
    let isDone = inbox.wait {
      WatchedPlace.files(in: place.file("inbox")).allSatisfy { $0.hasPrefix("accepted/") }
        && WatchedPlace.files(in: place.file("second")).allSatisfy { $0.hasPrefix("accepted/") }
        && watch.news.count { $0.event == "uploaded" } == 4
    }
    #expect(isDone, "\(watch.output)")
    #expect(WatchedPlace.files(in: place.out).count == 4)
    let notes = try inbox.notes()
    #expect(notes.count == 6 && notes.allSatisfy { $0.state == "uploaded" })
    #expect(inbox.wait { (try? inbox.acknowledgements())?.count == 6 })
    let both = inbox.wait {
      Workspace.names(in: place.file("box2")).filter { $0.hasSuffix(".ack.json") }
        == Workspace.names(in: inbox.outbox).filter { $0.hasSuffix(".ack.json") }
    }
    #expect(
      both,
      "\(Workspace.names(in: place.file("box2"))) but \(Workspace.names(in: inbox.outbox))")
  }

  @Test("exports never take the place of another recording's, nor of a file of the user's")
  func collisions() throws {
    try inbox.make(1)
    try inbox.make(2)
    try inbox.make(3)
    try FileManager.default.createDirectory(
      atPath: place.out, withIntermediateDirectories: false)
    _ = try place.folder.write("mine", to: "out/song.wav")
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/song.wav")
    #expect(try settled(1))
    try inbox.shell("cp made/2.wav inbox/tune.wav")
    #expect(try settled(2))
    try inbox.shell("cp made/3.wav inbox/tune.wav")
    #expect(try settled(3))
    let exports = WatchedPlace.files(in: place.out)
    #expect(exports.count == 4, "\(exports) \(watch.output)")
    #expect(try String(contentsOfFile: place.out + "/song.wav", encoding: .utf8) == "mine")
    #expect(exports.count { $0.hasPrefix("tune") } == 2 && exports.contains("tune.wav"))
  }

  /// Waits until so many notes are uploaded.
  private func settled(_ count: Int) throws -> Bool {
    try inbox.wait {
      try inbox.notes().count { $0.state == "uploaded" } == count
    }
  }
}
