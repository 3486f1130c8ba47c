import Foundation
import TestSupport
import Testing

/// The store's disk was not mounted, and a bare folder lies in its place.
@Suite("An inbox stays with the store that has served it")
struct WatchStoreTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  private func serveOnce() throws {
    try inbox.make(1)
    let watch = try inbox.watch(["--keep", "leave"])
    try inbox.shell("cp made/1.wav inbox/")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  /// Expects that another recording is taken, and the first, which has lain there longer, is not
  /// taken again.
  private func expectOnlyNews(_ watch: RunningWatch) throws {
    try inbox.make(2)
    try inbox.shell("cp made/2.wav inbox/")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(watch.news.filter { $0.event == "received" }.map(\.file) == ["2.wav"])
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  private func refusal() throws -> Program.Result {
    try place.spool([
      "watch", inbox.pipeline, inbox.inbox, "--outbox", inbox.outbox, "--out", place.out, "--keep",
      "leave",
    ])
  }

  @Test("a store that is not there any more is not made anew, and nothing is processed again")
  func missing() throws {
    try serveOnce()
    try #require(try inbox.shell("mv \(place.store) elsewhere"))
    let refused = try refusal()
    #expect(refused.exitCode == 1)
    #expect(refused.errorOutput.contains("another store has served the inbox"))
    #expect(refused.errorOutput.contains("--adopt"), "\(refused.errorOutput)")
    #expect(!FileManager.default.fileExists(atPath: place.store), "a store was made")
    // Somebody else has made one there meanwhile.
    try #require(try inbox.shell("mkdir -p \(place.store)/artifacts"), "no store to begin with")
    let again = try refusal()
    #expect(again.exitCode == 1)
    #expect(again.errorOutput.contains("its disk") || again.errorOutput.contains("not mounted"))
    // Back again, it goes on as if nothing had been.
    try #require(try inbox.shell("rm -r \(place.store); mv elsewhere \(place.store)"))
    try expectOnlyNews(try inbox.watch(["--keep", "leave"]))
  }

  @Test("with --adopt, a new store takes all in that lies there")
  func adopted() throws {
    try serveOnce()
    try #require(try inbox.shell("rm -r \(place.store)"))
    let watch = try inbox.watch(["--keep", "leave", "--adopt"])
    #expect(inbox.wait { watch.news.contains { $0.event == "received" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let next = try inbox.watch(["--keep", "leave"])
    next.send(SIGTERM)
    #expect(next.end() == 0)
  }

  @Test("a database that had to be made again is still the store's own")
  func rebuilt() throws {
    try serveOnce()
    try #require(try inbox.shell("rm -r \(place.store)/spool.sqlite* \(place.store)/backups"))
    try expectOnlyNews(try inbox.watch(["--keep", "leave"]))
  }
}
