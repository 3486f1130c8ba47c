import Foundation
import TestSupport
import Testing

/// Devices use a name such as `New Recording.m4a` again once the first has left the folder.
@Suite("Recordings of the same name, one after the other")
struct WatchSameNameTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  @Test(
    "the second one's sidecar is its own, in whatever order they arrive",
    arguments: [
      ["write", "sleep 1", "copy"], ["copy", "write"], ["write", "copy"],
      ["copy", "sleep 0.2", "write"],
    ], [false, true])
  func sidecar(steps: [String], isFirstDescribed: Bool) throws {
    try inbox.make(1)
    try inbox.make(2, seconds: 5)
    let watch = try inbox.watch()
    if isFirstDescribed { try inbox.shell(#"echo '{"title":"Garage"}' > inbox/new.json"#) }
    try inbox.shell("cp made/1.wav inbox/new.wav")
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains("accepted/new.wav") })
    #expect(inbox.wait { !WatchedPlace.files(in: inbox.inbox).contains("new.json") })
    let commands = [
      "write": #"echo '{"title":"Benches"}' > inbox/new.json"#,
      "copy": "cp made/2.wav inbox/new.wav",
    ]
    try inbox.shell(steps.map { commands[$0] ?? $0 }.joined(separator: "; "))
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    let titles = Set(try inbox.notes().map(\.title))
    #expect(titles == [isFirstDescribed ? "Garage" : "new", "Benches"], "\(watch.output)")
    #expect(
      inbox.wait {
        WatchedPlace.files(in: inbox.inbox).allSatisfy { $0.hasPrefix("accepted/") }
      }, "\(WatchedPlace.files(in: inbox.inbox))")
    // The second recording has a number, and its sidecar the same.
    let kept =
      ["new (2).json", "new (2).wav"] + (isFirstDescribed ? ["new.json"] : []) + ["new.wav"]
    #expect(WatchedPlace.files(in: inbox.inbox) == kept.map { "accepted/" + $0 })
    let second = try String(
      contentsOfFile: inbox.inbox + "/accepted/new (2).json", encoding: .utf8)
    #expect(second.contains("Benches"))
    // Nothing is said to be left or ignored that was used.
    #expect(!watch.news.contains { $0.event == "refused" }, "\(watch.output)")
  }

  @Test("a sidecar that belongs to no other recording says so once it has waited")
  func refused() throws {
    try inbox.make(1)
    let watch = try inbox.watch()
    try inbox.shell(
      #"echo '{"title":"Garage"}' > inbox/new.json; cp made/1.wav inbox/new.wav"#)
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains("accepted/new.json") })
    try inbox.shell(#"echo '{"title":"Benches"}' > inbox/new.json"#)
    #expect(
      try inbox.wait { try place.spool(["status"]).text.contains("is done: it waits for another") },
      "\(watch.output)")
    #expect(!watch.news.contains { $0.event == "refused" }, "\(watch.output)")
    #expect(inbox.wait { watch.news.contains { $0.event == "refused" } }, "\(watch.output)")
    let told = watch.news.last { $0.event == "refused" }?.text
    #expect(told?.contains("has its sidecar already") == true, "\(told ?? "")")
  }

  /// A watch that is done with `new.wav`, which came without a sidecar.
  private func watchWithRecording() throws -> RunningWatch {
    try inbox.make(1)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/new.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    return watch
  }

  @Test("a finished recording's first sidecar, which comes with a copy, says what it does not do")
  func firstOfCopy() throws {
    let watch = try watchWithRecording()
    try inbox.shell(
      #"echo '{"title":"Garage","chapters":[]}' > inbox/b.json; cp made/1.wav inbox/b.wav"#)
    #expect(inbox.wait { watch.news.contains { $0.event == "duplicate" } }, "\(watch.output)")
    let told = watch.news.last { $0.event == "duplicate" }?.text
    #expect(told?.contains("its exports stay as they are") == true, "\(told ?? "")")
    // The same once more says nothing new.
    try inbox.shell(
      #"echo '{"title":"Garage","chapters":[]}' > inbox/c.json; cp made/1.wav inbox/c.wav"#)
    #expect(
      inbox.wait { watch.news.count { $0.event == "duplicate" } == 2 }, "\(watch.output)")
    #expect(watch.news.last { $0.event == "duplicate" }?.text == "it has come before")
  }

  @Test("a copy's sidecar that is not used is not said to be a second one")
  func unusedOfCopy() throws {
    let watch = try watchWithRecording()
    try inbox.shell(
      #"echo '{"transcript":"Benches"}' > inbox/b.json; cp made/1.wav inbox/b.wav"#)
    #expect(inbox.wait { watch.news.contains { $0.event == "duplicate" } }, "\(watch.output)")
    let told = watch.news.last { $0.event == "duplicate" }?.text ?? ""
    #expect(
      told.contains(
        "new.wav came without a sidecar, and what this one says (transcript), which came with a copy"
      ),
      "\(told)")
    #expect(!told.contains("already") && told.contains("spool inbox forget "), "\(told)")
  }
}
