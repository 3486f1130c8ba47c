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

  @Test("an inbox and its store that were moved go on where they are, and what waits is processed")
  func moved() throws {
    // No room for results, so that what comes waits.
    try inbox.make(1)
    try #require(try inbox.shell("mkdir moved later; cp made/1.wav inbox/"))
    let watch = try inbox.watch(["--keep", "leave", "--out", place.file("later")])
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    try #require(try inbox.shell("rm -r later; touch later"))
    #expect(inbox.wait { watch.news.contains { $0.event == "paused" } }, "\(watch.output)")
    try inbox.make(2)
    try #require(try inbox.shell("cp made/2.wav inbox/"))
    #expect(
      inbox.wait { watch.news.contains { $0.event == "received" && $0.file == "2.wav" } },
      "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    // To another file system, say: the files' numbers and times do not survive.
    try #require(
      try inbox.shell("cp -R inbox moved/inbox; mv \(place.store) moved/store; rm -r inbox"))
    let store = place.file("moved/store")
    let status = try place.spool(["status", "--store", store])
    #expect(!status.text.contains("next:  spool watch"), "\(status.text)")
    let next = try RunningWatch(
      try SpoolProgram.program,
      [
        "watch", inbox.pipeline, place.file("moved/inbox"), "--outbox", inbox.outbox, "--json",
        "--out", place.out, "--settle", "300ms", "--keep", "leave", "--store", store,
      ], environment: place.environment, folder: place.folder.path)
    // What is not settled yet waits for a watch.
    let names = Set(["1.wav", "2.wav"])
    #expect(
      inbox.wait {
        names.isSubset(of: next.news.filter { $0.event == "released" }.compactMap(\.file))
      }, "\(next.output)")
    next.send(SIGTERM)
    #expect(next.end() == 0)
    let list = try place.spool(["inbox", "list", "--store", store]).text
    #expect(list.split(separator: "\n").allSatisfy { $0.contains("uploaded") }, "\(list)")
    let moved = place.file("moved/inbox")
    try #require(
      try place.spool(["inbox", "forget", "--inbox", moved, "--store", store]).exitCode == 0)
    let check = try place.spool(["status", "--check", "--store", store])
    #expect(check.exitCode == 0, "\(check.text)\(check.errorOutput)")
  }

  @Test("a refused watch leaves nothing in the store that it named")
  func refused() throws {
    try serveOnce()
    let other = place.file("other")
    let note = try inbox.make(3)
    try #require(
      try place.spool(["run", inbox.pipeline, note, "--out", place.out, "--store", other]).exitCode
        == 0)
    let refused = try place.spool([
      "watch", inbox.pipeline, inbox.inbox, "--outbox", inbox.outbox, "--out", place.out, "--store",
      other,
    ])
    #expect(refused.exitCode == 1, "\(refused.errorOutput)")
    let status = try place.spool(["status", "--check", "--store", other])
    #expect(status.exitCode == 0 && status.text.contains("the last run is"), "\(status.text)")
  }

  @Test("an inbox whose folder is gone is not offered, and can be taken off the list")
  func forgotten() throws {
    let watch = try inbox.watch()
    watch.send(SIGKILL)
    _ = watch.end()
    try #require(try inbox.shell("rm -r inbox"))
    let status = try place.spool(["status", "--check"])
    #expect(status.exitCode == 1 && !status.text.contains("next:"), "\(status.text)")
    #expect(status.text.contains("spool inbox forget --inbox"), "\(status.text)")
    let forgotten = try place.spool(["inbox", "forget", "--inbox", inbox.inbox, "--json"])
    #expect(forgotten.exitCode == 0, "\(forgotten.errorOutput)")
    let calm = try place.spool(["status", "--check"])
    #expect(calm.exitCode == 0 && calm.text.contains("nothing was run"), "\(calm.text)")
    #expect(try place.spool(["inbox", "forget", "--inbox", inbox.inbox]).exitCode == 2)
  }

  @Test("a store that is not there is said to be missing, and none is made")
  func notThere() throws {
    let store = place.file("nowhere")
    for words in [["status"], ["inbox"], ["inbox", "retry", "--all"], ["store", "gc"]] {
      let result = try place.spool(words + ["--store", store])
      #expect(result.exitCode == 1 && result.errorOutput.contains("there is no store at"))
    }
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test("a database that had to be made again is still the store's own")
  func rebuilt() throws {
    try serveOnce()
    try #require(try inbox.shell("rm -r \(place.store)/spool.sqlite* \(place.store)/backups"))
    try expectOnlyNews(try inbox.watch(["--keep", "leave"]))
  }
}
