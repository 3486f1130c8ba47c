import Foundation
import TestSupport
import Testing

/// The watch as a service that others start, ask and end.
@Suite("A watch is a calm service")
struct WatchServiceTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  @Test("a second watch of the same inbox says who has it, and ends")
  func twoWatches() throws {
    let first = try inbox.watch()
    let second = try inbox.watch(isAwaited: false)
    #expect(second.end() == 1)
    #expect(second.errors.contains("watched already"))
    #expect(second.errors.contains("process \(first.number)"))
    first.kill9()
    let third = try inbox.watch()
    #expect(third.news.contains { $0.event == "watching" }, "\(third.errors)")
  }

  @Test("a watch with another store does not get into the inbox either")
  func twoStores() throws {
    let first = try inbox.watch()
    let other = ["SPOOL_STORE": place.file("another-store")]
    let second = try inbox.watch(environment: other, isAwaited: false)
    #expect(second.end() == 1)
    #expect(second.errors.contains("another store has served the inbox"))
    let adopting = try inbox.watch(["--adopt"], environment: other, isAwaited: false)
    #expect(adopting.end() == 1)
    #expect(adopting.errors.contains("watched already"))
    #expect(adopting.errors.contains("process \(first.number) watches it"))
    first.kill9()
    let third = try inbox.watch(["--adopt"], environment: other)
    #expect(third.news.contains { $0.event == "watching" }, "\(third.errors)")
  }

  @Test(
    "a note whose end could not be recorded is gone on with once the ledger can be written to",
    .enabled(if: LongTests.areWanted, "it takes a minute"))
  func ledgerFailure() throws {
    // Long enough that the ledger is locked while it is worked on.
    try inbox.make(1, seconds: 400)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav x.wav; mv x.wav inbox/note.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "received" } })
    // Longer than run, failure and putting back wait for a lock, one after the other.
    try inbox.shell(
      "exec 3> >(sqlite3 '\(place.store)/spool.sqlite'); echo '.timeout 5000' >&3; "
        + "echo 'BEGIN IMMEDIATE;' >&3; sleep 50; echo 'COMMIT;' >&3; exec 3>&-")
    #expect(try inbox.wait { try inbox.notes().map(\.state) == ["uploaded"] })
    #expect(watch.isRunning && watch.news.contains { $0.event == "trouble" }, "\(watch.output)")
    #expect(WatchedPlace.files(in: place.out) == ["note.wav"])
  }

  @Test(
    "SIGTERM lets work come to a clean point, and the next watch goes on there",
    arguments: [SIGTERM, SIGINT])
  func drain(signal: Int32) throws {
    try inbox.make(1, seconds: 400)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav x.wav; mv x.wav inbox/long.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "received" } })
    usleep(200_000)
    watch.send(signal)
    #expect(watch.end() == 0)
    #expect(watch.news.last?.event == "stopped")
    let states = try inbox.notes().map(\.state)
    #expect(states == ["received"] || states == ["uploaded"], "\(states)")
    let next = try inbox.watch()
    #expect(try inbox.wait { try inbox.notes().map(\.state) == ["uploaded"] }, "\(next.output)")
    #expect(WatchedPlace.files(in: place.out) == ["long.wav"])
  }

  @Test("systemd is told of readiness, life, reloads and the end", arguments: [false, true])
  func notices(isAbstract: Bool) throws {
    let name = isAbstract ? "@spool-\(UUID().uuidString)" : place.file("notify")
    let socket = try NotifySocket(name)
    let watch = try inbox.watch(
      environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "900000"])
    var lines: [String] = []
    let isHeard = { (word: String) in
      inbox.wait {
        lines += socket.lines()
        return lines.contains { $0.hasPrefix(word) }
      }
    }
    #expect(isHeard("READY=1"))
    #expect(isHeard("STATUS=watching 1 inbox"))
    #expect(isHeard("WATCHDOG=1"))
    watch.send(SIGHUP)
    #expect(isHeard("RELOADING=1"))
    #expect(isHeard("MONOTONIC_USEC="))
    #expect(inbox.wait { watch.news.contains { $0.event == "reloaded" } })
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    #expect(isHeard("STOPPING=1"))
  }

  @Test("SIGHUP takes over another pipeline, and keeps the old one where the new one is wrong")
  func reload() throws {
    try inbox.make(1)
    try inbox.make(2)
    let watch = try inbox.watch()
    let path = place.file("pipeline.yaml")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    _ = try place.pipeline(text.replacing("[wav]", with: "[nothing]"))
    watch.send(SIGHUP)
    #expect(inbox.wait { watch.news.contains { $0.event == "trouble" } })
    #expect(watch.errors.contains("pipeline.yaml:7"))
    let told = try #require(watch.news.last { $0.event == "trouble" }?.text)
    #expect(told.contains("pipeline.yaml:7:") && !told.contains("\n"), "\(told)")
    let problem = "trouble: its settings were changed and are wrong"
    #expect(try inbox.wait { try place.spool(["status"]).text.contains(problem) })
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } })
    _ = try place.pipeline(text.replacing("[wav]", with: "[wav, flac]"))
    watch.send(SIGHUP)
    #expect(inbox.wait { watch.news.contains { $0.event == "reloaded" } })
    #expect(try inbox.wait { try !place.spool(["status"]).text.contains(problem) })
    try inbox.shell("cp made/2.wav inbox/two.wav")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 })
    #expect(WatchedPlace.files(in: place.out) == ["one.wav", "two.flac", "two.wav"])
  }

  @Test("SIGHUP with another store is refused: a watch keeps its own")
  func reloadStore() throws {
    let settings = { (store: String) in
      "store: \(store)\ninboxes:\n  - { inbox: inbox, pipeline: pipeline.yaml, settle: 300 ms }\n"
    }
    _ = try place.folder.write(settings("store"), to: "watch.yaml")
    let watch = try RunningWatch(
      try SpoolProgram.program, ["watch", "--config", "watch.yaml", "--json"],
      environment: place.environment, folder: place.folder.path)
    #expect(inbox.wait { watch.news.contains { $0.event == "watching" } }, "\(watch.output)")
    _ = try place.folder.write(settings("other"), to: "watch.yaml")
    watch.send(SIGHUP)
    #expect(inbox.wait { watch.news.contains { $0.event == "trouble" } }, "\(watch.output)")
    #expect(watch.errors.contains("the watch keeps its store \(place.file("store"))"))
    #expect(!FileManager.default.fileExists(atPath: place.file("other")))
    _ = try place.folder.write(settings("./store"), to: "watch.yaml")
    watch.send(SIGHUP)
    #expect(inbox.wait { watch.news.contains { $0.event == "reloaded" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test("descriptors and memory do not grow with the notes")
  func appetite() throws {
    let count = LongTests.areWanted ? 600 : 120
    for number in 1...count { try inbox.make(number, seconds: 0.1) }
    let watch = try inbox.watch()
    try inbox.shell("for i in $(seq 1 20); do cp made/$i.wav inbox/; done")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 20 })
    let before = watch.appetite
    try inbox.shell("for i in $(seq 21 \(count)); do cp made/$i.wav inbox/; done")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == count })
    #expect(inbox.wait { watch.appetite.descriptors <= before.descriptors })
    #expect(watch.appetite.bytes < before.bytes + 16_000_000)
  }

  @Test("commands of devices are applied and answered, and so are those of the user")
  func commands() throws {
    try inbox.make(1)
    let watch = try inbox.watch()
    let id = "7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41"
    try inbox.shell("echo '{\"noteId\":\"\(id)\"}' > inbox/n.json; cp made/1.wav inbox/n.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } })
    try inbox.shell(
      "echo '{\"command\":\"rename\",\"noteId\":\"\(id)\",\"title\":\"Better\"}' "
        + "> inbox/c1.command.json")
    #expect(try inbox.wait { try inbox.notes().map(\.title) == ["Better"] })
    #expect(inbox.wait { Workspace.names(in: inbox.outbox).contains("c1.result.json") })
    let status = try place.spool(["status"])
    #expect(status.exitCode == 0 && status.text.contains("1  uploaded"))
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    #expect(try place.spool(["inbox", "forget", id]).exitCode == 0)
    #expect(try inbox.notes().isEmpty)
    // Forgotten, it is new when it comes again.
    try inbox.shell("cp made/1.wav inbox/anew.wav")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 })
    #expect(try place.spool(["inbox", "show", "nobody"]).exitCode == 2)
  }
}
