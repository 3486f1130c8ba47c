import Foundation
import TestSupport
import Testing

/// What people and devices are told of notes that are not simply done.
@Suite("A watch gives account of names, decisions and files that are left alone")
struct WatchAccountTests {
  private static let id = "7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41"
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  @Test("a second noteId of the same bytes is known to everybody who asks by it")
  func alias() throws {
    let second = "AAAAAAAA-52D3-4E8F-9A16-3B0D2F6C8E41"
    try inbox.make(1)
    let watch = try inbox.watch()
    try inbox.shell(
      "echo '{\"noteId\":\"\(Self.id)\"}' > inbox/one.json; cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    try inbox.shell(
      "echo '{\"noteId\":\"\(second)\"}' > inbox/two.json; cp made/1.wav inbox/two.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "duplicate" } }, "\(watch.output)")
    #expect(inbox.wait { (try? inbox.acknowledgements()[second]?.status) == "uploaded" })
    let note = try inbox.note(second)
    #expect(try note.noteId == Self.id && note.key == inbox.note(Self.id).key)
    #expect(try place.spool(["inbox", "show", second]).text.contains("also noteId: \(second)"))
    let state = place.file("outbox/state.json")
    #expect(
      inbox.wait {
        (try? String(contentsOfFile: state, encoding: .utf8))?
          .contains(#""aliases":["\#(second)"]"#) == true
      })
    let rename = #"{"command":"rename","title":"Both","noteId":"\#(second)"}"#
    try inbox.shell("echo '\(rename)' > inbox/c1.command.json")
    #expect(try inbox.wait { try inbox.note(Self.id).title == "Both" }, "\(watch.output)")
    let retry = try place.spool(["inbox", "retry", second])
    #expect(retry.exitCode == 1 && retry.errorOutput.contains("it is uploaded"))
  }

  @Test("an empty file is struck with all that speaks of it, and what to type names the store")
  func empty() throws {
    let store = ["--store", place.file("my store")]
    let watch = try inbox.watch(store)
    try inbox.shell(": > inbox/empty.wav")
    let reason = inbox.inbox + "/quarantine/empty.wav.reason.json"
    #expect(inbox.wait { FileManager.default.fileExists(atPath: reason) }, "\(watch.output)")
    let written = try String(contentsOfFile: reason, encoding: .utf8)
    #expect(written.contains("--store '\(place.file("my store"))'"), "\(written)")
    #expect(!written.contains("spool inbox release"), "\(written)")
    let list = try place.spool(["inbox", "list", "--json"] + store).text
    let key = try JSONDecoder().decode(StoredRecording.self, from: Data(list.utf8)).key
    let page = try place.spool(["inbox", "show", key] + store).text
    #expect(page.contains("next:  spool inbox forget \(key) --store '"), "\(page)")
    let release = try place.spool(["inbox", "release", key] + store)
    #expect(release.exitCode == 1 && release.errorOutput.contains("it is empty"))
    #expect(try place.spool(["inbox", "forget", key] + store).exitCode == 0)
    #expect(WatchedPlace.files(in: inbox.inbox).isEmpty)
  }

  @Test("what another sidecar of a recording says is ignored, and the log says how to use it")
  func otherSidecar() throws {
    try inbox.make(1)
    let watch = try inbox.watch()
    try inbox.shell("echo '{\"title\":\"One\"}' > inbox/ep.json; cp made/1.wav inbox/ep.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    let key = try #require(try inbox.notes().first).key
    let fields = #"{"title":"One","chapters":[{"start":0,"title":"A"}],"spool":{"set":{"x":"1"}}}"#
    try inbox.shell("echo '\(fields)' > inbox/ep.json; cp made/1.wav inbox/ep.wav")
    #expect(
      inbox.wait {
        watch.output.contains("(chapters, spool) is ignored")
          && watch.output.contains("spool inbox forget \(key)")
      }, "\(watch.output)")
  }

  @Test("a recording in quarantine outlives its being forgotten, and its reason does not")
  func forgottenInQuarantine() throws {
    try inbox.make(1)
    let watch = try inbox.watch(["--give-up", "1s"])
    try inbox.shell("head -c 3000 made/1.wav > inbox/bad.wav")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    #expect(
      WatchedPlace.files(in: inbox.inbox)
        == ["quarantine/bad.wav", "quarantine/bad.wav.reason.json"])
    let key = try #require(try inbox.notes().first).key
    let forgotten = try place.spool(["inbox", "forget", key])
    #expect(forgotten.exitCode == 0)
    #expect(forgotten.errorOutput.contains("quarantine/bad.wav"), "\(forgotten.errorOutput)")
    #expect(WatchedPlace.files(in: inbox.inbox) == ["quarantine/bad.wav"])
  }

  @Test("a cancelled note asks nobody for anything, and comes back by its name alone")
  func cancelled() throws {
    try inbox.make(1)
    let cancel = #"{"command":"cancel","noteId":"\#(Self.id)"}"#
    try inbox.shell("echo '\(cancel)' > inbox/c1.command.json")
    let watch = try inbox.watch()
    #expect(inbox.wait { watch.news.contains { $0.event == "command" } }, "\(watch.output)")
    #expect(try place.spool(["status"]).text.contains("1 command waits for a recording"))
    try inbox.shell(
      "echo '{\"noteId\":\"\(Self.id)\"}' > inbox/one.json; cp made/1.wav inbox/one.wav")
    #expect(
      inbox.wait {
        watch.news.contains { $0.text == "cancel, which waited for its recording, is applied" }
      }, "\(watch.output)")
    let status = try place.spool(["status"]).text
    #expect(status.contains("1  cancelled") && !status.contains("failed"), "\(status)")
    #expect(!status.contains("next:"), "\(status)")
    let all = try place.spool(["inbox", "retry", "--all"])
    #expect(all.errorOutput.contains("no recording waits to be tried again"))
    #expect(try place.spool(["inbox", "list", "--state", "failed"]).text == "no such recordings\n")
    #expect(try place.spool(["inbox", "list", "--state", "cancelled"]).text.contains("one.wav"))
    #expect(try place.spool(["inbox", "retry", Self.id]).exitCode == 0)
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
  }

  @Test("temporary and hidden names that stay are told in the status and the list, and left alone")
  func overlooked() throws {
    try inbox.make(1)
    try inbox.shell("cp made/1.wav inbox/.walk.wav; cp made/1.wav inbox/talk.wav.part; sleep 0.2")
    let watch = try inbox.watch(["--overlooked", "100ms"])
    #expect(inbox.wait { watch.news.contains { $0.event == "refused" } }, "\(watch.output)")
    for words in [["status"], ["inbox", "list"]] {
      let isTold = try inbox.wait {
        let text = try place.spool(words).text
        return text.contains("2  never taken: temporary or hidden names, the oldest since 20")
          && text.contains(".walk.wav: it is hidden")
      }
      #expect(isTold, "\(words)")
    }
    #expect(WatchedPlace.files(in: inbox.inbox) == [".walk.wav", "talk.wav.part"])
    #expect(try inbox.notes().isEmpty)
  }
}
