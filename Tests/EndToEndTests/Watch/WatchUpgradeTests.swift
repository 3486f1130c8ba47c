import Foundation
import Platform
import TestSupport
import Testing

/// A package upgrade under a running service: the newer program migrates the store.
@Suite("A watch ends when a newer Spool has upgraded its store")
struct WatchUpgradeTests {
  private let inbox: WatchedPlace
  private var place: Workspace { inbox.place }

  init() throws { inbox = try WatchedPlace() }

  /// Changes the store's format as a migration does.
  private func setFormat(by difference: Int) throws {
    var database = try place.database()
    let known = try database.run("SELECT version FROM format", to: "read").first?[0].integer
    let version = try #require(known) + Int64(difference)
    try database.script(
      "BEGIN IMMEDIATE; PRAGMA user_version = \(version); UPDATE format SET version = \(version); "
        + "COMMIT;", to: "change")
  }

  @Test(
    "it says why, exits with 1, and every recording stays for the newer one",
    arguments: [false, true])
  func upgrade(isWorking: Bool) throws {
    try inbox.make(1, seconds: isWorking ? 600 : 0.3)
    try inbox.make(2)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav x.wav; mv x.wav inbox/one.wav")
    let sign = isWorking ? "received" : "uploaded"
    #expect(inbox.wait { watch.news.contains { $0.event == sign } }, "\(watch.output)")
    try setFormat(by: 1)
    try inbox.shell("cp made/2.wav x.wav; mv x.wav inbox/two.wav")
    #expect(watch.end() == 1, "systemd restarts it: \(watch.output)")
    let words = "a newer Spool has upgraded the store at \(place.store)"
    #expect(watch.errors.contains("error: " + words), "\(watch.errors)")
    #expect(watch.errors.contains("restart this service"), "\(watch.errors)")
    #expect(watch.news.last?.event == "stopped", "\(watch.output)")
    #expect(watch.news.count < 20, "\(watch.output)")
    #expect(WatchedPlace.files(in: inbox.inbox).contains("two.wav"))
    for verb in [
      ["status"], ["store", "check"], ["store", "gc"],
      ["run", inbox.pipeline, place.file("made/2.wav")],
    ] {
      let older = try place.spool(verb)
      #expect(older.exitCode == 1 && older.errorOutput.contains(words), "\(older.errorOutput)")
    }
    // What the newer program finds.
    try setFormat(by: -1)
    #expect(try place.spool(["store", "check"]).exitCode == 0)
    let next = try inbox.watch()
    #expect(
      inbox.wait {
        next.news.count { $0.event == "uploaded" } == (isWorking ? 2 : 1)
      },
      "\(next.output)")
    #expect(inbox.wait { WatchedPlace.files(in: place.out) == ["one.wav", "two.wav"] })
  }
}
