import Foundation
import TestSupport
import Testing

/// The same sound comes again, with other bytes, by another name, or after it was cut off.
@Suite("What a watch says of recordings that come again")
struct WatchCopiesTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  @Test("the sidecar of a recording that was cut off is told, and becomes the whole one's")
  func cutOff() throws {
    try inbox.make(1, seconds: 2)
    let watch = try inbox.watch(["--give-up", "1s"])
    let begin = "echo '{\"title\":\"Interview\"}' > inbox/t.json; "
    try inbox.shell(begin + "head -c 9000 made/1.wav > inbox/t.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 1 }, "\(watch.output)")
    try inbox.shell("cp made/1.wav inbox/t.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 2 }, "\(watch.output)")
    #expect(
      watch.output.contains("quarantine/t.json, which came with its cut-off version"),
      "\(watch.output)")
    #expect(try inbox.notes().first { $0.state == "uploaded" }?.title == "Interview")
    #expect(try place.spool(["status"]).text.contains("next:") == false)
    let left = inbox.wait {
      WatchedPlace.files(in: inbox.inbox)
        == [
          "accepted/t.json", "accepted/t.wav", "quarantine/t.wav", "quarantine/t.wav.reason.json",
        ]
    }
    #expect(left)

    // Not the beginning of the next one: it is named.
    try inbox.make(2, seconds: 2)
    let other = "echo '{\"title\":\"Other\"}' > inbox/u.json; "
    try inbox.shell(other + "head -c 9000 made/2.wav > inbox/u.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 3 }, "\(watch.output)")
    try inbox.make(3, seconds: 2)
    try inbox.shell("cp made/3.wav inbox/u.wav")
    #expect(
      inbox.wait { watch.news.count { $0.event == "released" } == 4 }, "\(watch.output)")
    #expect(watch.output.contains("quarantine/u.json is not used"), "\(watch.output)")
    let note = try #require(
      try inbox.notes().first { $0.state == "uploaded" && $0.file == "u.wav" })
    let shown = try place.spool(["inbox", "show", note.key]).text
    #expect(
      shown.contains("\(inbox.inbox)/quarantine/u.json, which came with an earlier file"),
      "\(shown)")
  }
}
