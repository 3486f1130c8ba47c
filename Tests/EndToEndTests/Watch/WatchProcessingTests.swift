import Foundation
import TestSupport
import Testing

/// What the store knows of recordings, and what devices and people are told of it.
@Suite("A watch keeps account of what it has")
struct WatchCustodyTests {
  private static let id = "7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41"
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  @Test("one noteId with bytes that came before under another name is told to everybody who asks")
  func claim() throws {
    for number in 1...2 { try inbox.make(number) }
    let sidecar = #"{"noteId":"\#(Self.id)"}"#
    let watch = try inbox.watch()
    try inbox.shell("echo '\(sidecar)' > inbox/one.json; cp made/1.wav inbox/one.wav")
    try inbox.shell("cp made/2.wav inbox/two.wav")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    try inbox.shell("echo '\(sidecar)' > inbox/three.json; cp made/2.wav inbox/three.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "conflict" } }, "\(watch.output)")
    let notes = try inbox.notes()
    let named = try #require(notes.first { $0.noteId == Self.id })
    let claimant = try #require(notes.first { $0.conflict == named.key })
    #expect(claimant.file == "two.wav" && claimant.state == "uploaded")
    #expect(claimant.reason == "it claims to be \(named.key) with other bytes")
    // The device that sent it knows it by that identity alone.
    let ack = place.file("outbox/\(Self.id).ack.json")
    #expect(
      inbox.wait {
        (try? String(contentsOfFile: ack, encoding: .utf8))?
          .contains(#""claimedBy":["\#(claimant.key)"]"#) == true
      })
    let state = place.file("outbox/state.json")
    #expect(
      inbox.wait {
        (try? String(contentsOfFile: state, encoding: .utf8))?
          .contains(#""conflictsWith":"\#(named.key)""#) == true
      })
    #expect(try place.spool(["inbox", "list"]).text.contains("it claims to be \(named.key)"))
    let told = try place.spool(["status"]).text
    #expect(told.contains("conflict  \(claimant.key)"), "\(told)")
    // Both originals are there.
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains("accepted/three.wav") })
    #expect(WatchedPlace.files(in: place.out) == ["one.wav", "two.wav"])
    // Decided by hand, nobody is asked again, and the history has it.
    #expect(try place.spool(["inbox", "release", claimant.key]).exitCode == 0)
    #expect(try !place.spool(["status"]).text.contains("conflict"))
    let page = try place.spool(["inbox", "show", claimant.key]).text
    #expect(page.contains("claiming to be \(named.key)") && page.contains("released by hand"))
  }

  @Test("a command that comes again is told to have been applied before, and when")
  func repeatedCommand() throws {
    try inbox.make(1)
    let watch = try inbox.watch()
    try inbox.shell("echo '{\"noteId\":\"\(Self.id)\"}' > inbox/1.json; cp made/1.wav inbox/1.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    let command = #"{"command":"rename","title":"Lunch","noteId":"\#(Self.id)"}"#
    for count in 1...2 {
      try inbox.shell("echo '\(command)' > x; mv x inbox/c7.command.json")
      #expect(
        inbox.wait { watch.news.count { $0.event == "command" } == count }, "\(watch.output)")
    }
    let told = watch.news.filter { $0.event == "command" }.compactMap(\.text)
    #expect(
      told.first == "rename applied; its exports, made before, keep their names and tags")
    #expect(told.last?.contains("came again: it was applied before, at 20") == true, "\(told)")
    #expect(told.last?.hasSuffix("nothing was done now") == true)
    let answer = place.file("outbox/c7.result.json")
    #expect(
      inbox.wait {
        (try? String(contentsOfFile: answer, encoding: .utf8))?.contains(#""decidedAt":"20"#)
          == true
      })
  }

  @Test("a command left in the inbox did not come again because the watch did")
  func leftCommands() throws {
    try inbox.make(1)
    let leave = ["--keep", "leave"]
    let first = try inbox.watch(leave)
    try inbox.shell("echo '{\"noteId\":\"\(Self.id)\"}' > inbox/1.json; cp made/1.wav inbox/1.wav")
    #expect(inbox.wait { first.news.contains { $0.event == "uploaded" } }, "\(first.output)")
    let command = #"{"command":"rename","title":"Lunch","noteId":"\#(Self.id)"}"#
    try inbox.shell(
      "echo '\(command)' > x; mv x inbox/c7.command.json; echo '{' > y; mv y inbox/c8.command.json")
    #expect(inbox.wait { first.news.count { $0.event == "command" } == 2 }, "\(first.output)")
    first.send(SIGTERM)
    #expect(first.end() == 0)
    // Another recording comes after both commands were looked at.
    let second = try inbox.watch(leave)
    try inbox.make(2)
    try inbox.shell("cp made/2.wav inbox/2.wav")
    #expect(inbox.wait { second.news.contains { $0.event == "uploaded" } }, "\(second.output)")
    #expect(!second.news.contains { $0.event == "command" }, "\(second.output)")
    // Sent once more, by the same name, it is told.
    try inbox.shell("echo '\(command)' > x; mv x inbox/c7.command.json")
    #expect(
      inbox.wait {
        second.news.contains { $0.event == "command" && $0.text?.contains("came again") == true }
      }, "\(second.output)")
  }

  @Test("commands that came while nobody watched are done in the order of their issuedAt")
  func waitingCommands() throws {
    try inbox.make(1)
    let first = try inbox.watch()
    try inbox.shell("echo '{\"noteId\":\"\(Self.id)\"}' > inbox/1.json; cp made/1.wav inbox/1.wav")
    #expect(inbox.wait { first.news.contains { $0.event == "uploaded" } }, "\(first.output)")
    first.send(SIGTERM)
    #expect(first.end() == 0)
    for (name, second) in [("a", 3), ("b", 1), ("c", 2)] {
      let command =
        #"{"command":"rename","title":"\#(name)","noteId":"\#(Self.id)","#
        + #""issuedAt":"2026-03-14T09:26:0\#(second)Z"}"#
      try inbox.shell("echo '\(command)' > inbox/\(name).command.json")
    }
    let watch = try inbox.watch()
    #expect(inbox.wait { watch.news.count { $0.event == "command" } == 3 }, "\(watch.output)")
    let files = watch.news.filter { $0.event == "command" }.compactMap(\.file)
    #expect(files == ["b", "c", "a"].map { $0 + ".command.json" })
    #expect(try inbox.notes().first?.title == "a")
  }

  @Test("a command that came while nobody watched comes before all work on its note")
  func commandBeforeWork() throws {
    // It settles long after a note would have been gone on with.
    let settling = ["--settle", "3s", "--out", place.out]
    try inbox.make(1, seconds: 400)
    let first = try inbox.watch()
    try inbox.shell("echo '{\"noteId\":\"\(Self.id)\"}' > inbox/1.json; mv made/1.wav inbox/1.wav")
    #expect(inbox.wait { first.news.contains { $0.event == "received" } }, "\(first.output)")
    first.kill9()
    #expect(try inbox.notes().allSatisfy { $0.state != "uploaded" })
    let command = #"{"command":"cancel","noteId":"\#(Self.id)"}"#
    try inbox.shell("mkdir -p inbox/sub && echo '\(command)' > inbox/sub/c1.command.json")
    let watch = try inbox.watch(settling)
    #expect(inbox.wait { watch.news.contains { $0.event == "command" } }, "\(watch.output)")
    #expect(watch.news.first { $0.event == "command" }?.text == "cancel applied")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    #expect(try place.spool(["inbox", "list", "--state", "cancelled"]).text.contains("1.wav"))
    #expect(WatchedPlace.files(in: place.out).isEmpty)
  }

  @Test("a command of which only the beginning is there when a watch begins is waited for")
  func halfACommand() throws {
    try inbox.shell("printf '{\"command\":\"cancel\",' > inbox/c1.command.json")
    let watch = try inbox.watch(["--settle", "3s"])
    try inbox.shell("printf '\"noteId\":\"\(Self.id)\"}' >> inbox/c1.command.json")
    #expect(inbox.wait { watch.news.contains { $0.event == "command" } }, "\(watch.output)")
    let text = watch.news.first { $0.event == "command" }?.text
    #expect(text?.contains("has not arrived yet") == true, "\(text ?? "")")
  }

  @Test(
    "recordings whose names differ only in what is no ending are exported side by side",
    arguments: [
      ("Talk 10.30.recording-a", "Talk 10.30.recording-b", "Talk 10.30"),
      ("a.b.c.Sitzungsprotokoll eins", "a.b.c.Sitzungsprotokoll zwei", "a.b.c"),
    ])
  func dottedNames(first: String, second: String, stem: String) throws {
    try inbox.make(1)
    try inbox.make(2)
    let watch = try inbox.watch(["--attempts", "1"])
    try inbox.shell("mv made/1.wav 'inbox/\(first)'; mv made/2.wav 'inbox/\(second)'")
    #expect(
      inbox.wait {
        watch.news.count { $0.event == "uploaded" || $0.event == "failed" } == 2
      }, "\(watch.output)")
    let names = WatchedPlace.files(in: place.out)
    let keys = try inbox.notes().map { String($0.key.prefix(8)) }
    #expect(names.count == 2 && names.contains(stem + ".wav"), "\(names)")
    #expect(keys.contains { names.contains("\(stem)-\($0).wav") }, "\(names)")
  }

  @Test("a sidecar that came before its recording does not stand as untaken once both are in")
  func sidecarFirst() throws {
    try inbox.make(1)
    try inbox.shell("mkdir -p out inbox/sub && touch out/sub")
    let watch = try inbox.watch(["--attempts", "1"])
    try inbox.shell("echo '{}' > inbox/sub/1.json")
    #expect(
      try inbox.wait { try place.spool(["status"]).text.contains("1.json: its recording has not") })
    try inbox.shell("cp made/1.wav inbox/sub/1.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "failed" } }, "\(watch.output)")
    #expect(
      try inbox.wait {
        try !place.spool(["status"]).text.contains("not taken in yet")
      })
  }

  @Test(
    "a sidecar that can never be read holds its recording up for no longer than its settling",
    arguments: [
      "head -c 60000000 /dev/zero | tr '\\0' x > inbox/1.json", "echo '[1,2]' > inbox/1.json",
      "printf '[%.0s' $(seq 100) > inbox/1.json", "echo 'not JSON at all' > inbox/1.json",
    ])
  func unreadableSidecar(write: String) throws {
    try inbox.make(1)
    let watch = try inbox.watch(["--settle", "1s"])
    try inbox.shell("\(write); cp made/1.wav inbox/1.wav")
    // A sidecar that may be half of one is waited for 15 settle periods.
    let isTaken = inbox.wait { watch.news.contains { $0.event == "received" } }
    #expect(isTaken, "\(watch.output)")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    // Another one says that there is a single copy.
    let warnings = watch.news.filter { $0.event == "warning" && $0.file != nil }
      .compactMap(\.text)
    #expect(warnings.count == 1 && warnings[0].hasPrefix("its sidecar: "), "\(warnings)")
  }

  @Test("where a sidecar is required, one that can never be read is told at once, and mended")
  func requiredSidecar() throws {
    try inbox.make(1)
    let watch = try inbox.watch(["--sidecar", "required"])
    try inbox.shell("echo '[1,2]' > inbox/1.json; cp made/1.wav inbox/1.wav")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "unsettled" } },
      "\(watch.output)")
    let words = "its sidecar does not read: the file: found a list"
    #expect(watch.news.first { $0.event == "unsettled" }?.text?.hasPrefix(words) == true)
    #expect(try inbox.wait { try place.spool(["status"]).text.contains("1.wav: \(words)") })
    #expect(!watch.news.contains { $0.event == "received" })
    try inbox.shell(#"echo '{"title":"Mended"}' > x; mv x inbox/1.json"#)
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(try inbox.notes().first?.title == "Mended")
  }

  @Test(
    "the log says in words what was done with each file",
    arguments: [
      ("move", "done, and moved to accepted/1.wav"), ("leave", "done, and left where it is"),
    ])
  func releases(keep: String, words: String) throws {
    try inbox.make(1)
    let watch = try inbox.watch(["--keep", keep])
    try inbox.shell("cp made/1.wav inbox/; head -c 3000 /dev/urandom > inbox/noise.wav")
    #expect(inbox.wait { watch.news.count { $0.event == "released" } == 2 }, "\(watch.output)")
    let told = watch.news.filter { $0.event == "released" }
    #expect(told.first { $0.file == "1.wav" }?.text == words)
    let noise = told.first { $0.file == "noise.wav" }?.text
    #expect(
      noise
        == (keep == "move"
          ? "it cannot be processed, and was moved to quarantine/noise.wav, with the reason beside it"
          : "it cannot be processed, and left where it is"))
  }

  @Test("a note that is forgotten while its file was left in the inbox is taken anew at once")
  func forgotten() throws {
    for number in 1...2 { try inbox.make(number) }
    let watch = try inbox.watch(["--keep", "leave"])
    try inbox.shell("cp made/1.wav made/2.wav inbox/")
    #expect(inbox.wait { watch.news.count { $0.event == "released" } == 2 }, "\(watch.output)")
    let note = try #require(try inbox.notes().first { $0.file == "1.wav" })
    let since = Date()
    #expect(try place.spool(["inbox", "forget", note.key]).exitCode == 0)
    // The next look through the whole inbox is a minute away.
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 3 }, "\(watch.output)")
    #expect(Date().timeIntervalSince(since) < 50)
    #expect(watch.news.count { $0.event == "received" && $0.file == "2.wav" } == 1)
  }

  @Test("an original is given back by its note, as it arrived")
  func export() throws {
    try inbox.make(1)
    let watch = try inbox.watch(["--keep", "delete", "--single-copy"])
    try inbox.shell("mkdir inbox/calls; cp made/1.wav inbox/calls/walk.wav; mkdir desk")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    #expect(WatchedPlace.files(in: inbox.inbox) == [])
    let note = try #require(try inbox.notes().first)
    try inbox.shell("echo mine > desk/walk.wav")
    let exported = try place.spool(["inbox", "export", note.key, "--to", "desk", "--json"])
    #expect(exported.exitCode == 0, "\(exported.errorOutput)")
    let path = place.file("desk/walk (2).wav")
    #expect(
      exported.text.contains(path.replacing("/", with: "\\/")) || exported.text.contains(path))
    #expect(FileManager.default.contentsEqual(atPath: path, andPath: place.file("made/1.wav")))
    let again = try place.spool(["inbox", "export", note.key, "--to", "desk"])
    #expect(again.text.contains("there already"), "\(again.text)")
    #expect(Workspace.names(in: place.file("desk")) == ["walk (2).wav", "walk.wav"])
    #expect(try place.spool(["inbox", "export", "none", "--to", "desk"]).exitCode == 2)
    #expect(try place.spool(["inbox", "list", "--to", "desk"]).exitCode == 2)
  }
}
