import Foundation
import TestSupport
import Testing

/// Whoever asks how a watch stands is told what lies there, and what goes on with it.
@Suite("The status of a watch names what waits and what to type")
struct WatchStatusTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  @Test(
    "what waits in an inbox because the store's disk is full is counted, with what it needs",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func waitingForRoom() throws {
    let disk = try SmallDisk(byteCount: 16 << 20)
    for number in 1...3 { try inbox.make(number, seconds: 20) }
    let store = ["--store", disk.path + "/store"]
    let watch = try inbox.watch(store)
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(try !place.spool(["status"] + store).text.contains("disk full"))
    try inbox.shell("cat /dev/zero > '\(disk.path)/stuff'; cp made/2.wav made/3.wav inbox/")
    #expect(inbox.wait { watch.news.contains { $0.event == "trouble" } }, "\(watch.output)")
    let told = try place.spool(["status"] + store)
    #expect(told.exitCode == 0, "\(told.errorOutput)")
    #expect(
      told.text.contains("      2  recordings wait in the inbox, not taken in\n")
        || told.text.contains("      2  not taken in yet\n"), "\(told.text)")
    let files = ["2.wav", "3.wav"].compactMap {
      try? Data(contentsOf: URL(filePath: "\(inbox.inbox)/\($0)")).count
    }
    // Two figures are enough for people.
    let need = (Double(files.reduce(0, +)) / 100_000).rounded() / 10
    #expect(
      told.text.contains("disk full: what waits needs \(need) MB, and the store's disk has "),
      "\(told.text)")
    // With room, all of it is taken in, and nothing is said any more.
    try inbox.shell("rm '\(disk.path)/stuff'")
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 3 }, "\(watch.output)")
    #expect(
      try inbox.wait {
        let after = try place.spool(["status"] + store).text
        return !after.contains("disk full") && !after.contains("not taken in")
      })
  }

  @Test("an inbox that nobody watches any more is named with what goes on with it as before")
  func unwatched() throws {
    let idle = try inbox.watch()
    #expect(try !place.spool(["status"]).text.contains("no notes yet"))
    idle.kill9()
    try inbox.make(1)
    let watch = try inbox.watch(["--attempts", "1"])
    try inbox.shell("mkdir inbox/sub && touch out/sub && cp made/1.wav inbox/sub/")
    #expect(inbox.wait { watch.news.contains { $0.event == "failed" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let ended = try place.spool(["status"]).text
    #expect(ended.contains("inbox \(inbox.inbox): not watched\n"), "\(ended)")
    #expect(ended.contains("--settle 300ms --attempts 1 --json goes on with it\n"), "\(ended)")
    // Killed, it is remembered as well, from the moment on at which it watched.
    let last = try inbox.watch([
      "--name", "my {title}", "--keep", "leave", "--store", "store", "--ignore-mounts",
    ])
    last.kill9()
    let told = try place.spool(["status"]).text
    let line =
      "spool watch \(inbox.pipeline) \(inbox.inbox) --out \(place.out) --outbox \(inbox.outbox) "
      + "--name 'my {title}' --store \(place.file("store")) --settle 300ms --keep leave --json"
    #expect(told.contains("           \(line) goes on with it\n"), "\(told)\n\(line)")
  }

  @Test("an inbox that left the settings stays on the list while recordings of it wait")
  func unwatchedWaiting() throws {
    try inbox.shell(
      "printf 'inboxes:\n  - inbox: %s\n    pipeline: %s\n    out: out\n    settle: 300 ms\n' inbox "
        + "\(inbox.pipeline) > watch.yaml")
    try inbox.make(1)
    // Without a place for exports, the recording waits for another attempt.
    try inbox.shell("mkdir -p out inbox/sub; touch out/sub; cp made/1.wav inbox/sub/")
    let watch = try RunningWatch(
      try SpoolProgram.program,
      ["watch", "--config", "watch.yaml", "--store", place.store, "--json"],
      environment: place.environment, folder: place.folder.path)
    #expect(inbox.wait { watch.news.contains { $0.event == "retrying" } }, "\(watch.output)")
    watch.kill9()
    try inbox.shell("sed -i 's/inbox: inbox/inbox: made/' watch.yaml")
    let store = ["--store", place.store]
    let told = try place.spool(["status"] + store).text
    #expect(told.contains("1 recording of it waits: watched again, it goes on"), "\(told)")
    #expect(!told.contains("takes it off this list"), "\(told)")
    let refused = try place.spool(["inbox", "forget", "--inbox", inbox.inbox] + store)
    #expect(refused.exitCode == 2, "\(refused.errorOutput)")
    let line = try #require(refused.errorOutput.split(separator: "give up what waits: ").last)
    let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
    #expect(words.prefix(3) == ["spool", "inbox", "forget"], "\(line)")
    #expect(try place.spool(Array(words.dropFirst())).exitCode == 0)
    #expect(try place.spool(["inbox", "forget", "--inbox", inbox.inbox] + store).exitCode == 0)
    #expect(try place.spool(["status", "--check"] + store).exitCode == 0)
  }

  @Test("a watch with a settings' file goes on with that file, from wherever it is typed")
  func unwatchedSettings() throws {
    try inbox.shell(
      "printf 'inboxes:\n  - inbox: %s\n    pipeline: %s\n    out: out\n' inbox \(inbox.pipeline) "
        + "> watch.yaml")
    let watch = try RunningWatch(
      try SpoolProgram.program, ["watch", "--config", "watch.yaml", "--store", place.store],
      environment: place.environment, folder: place.folder.path)
    #expect(inbox.wait { watch.output.contains("watching") }, "\(watch.output)")
    watch.kill9()
    let told = try place.spool(["status", "--store", place.store]).text
    let line = "spool watch --config \(place.file("watch.yaml")) --store \(place.store)"
    #expect(told.contains(" \(line) goes on with it"), "\(told)")
    // The watch of what its settings lack by now would watch something else.
    try inbox.shell("sed -i 's/inbox: inbox/inbox: made/' watch.yaml")
    let without = try place.spool(["status", "--store", place.store])
    #expect(without.text.contains("watch.yaml does not name it any more\n"), "\(without.text)")
    #expect(!without.text.contains("goes on with it"), "\(without.text)")
    let json = try place.spool(["status", "--store", place.store, "--json"]).text
    let forgetting = "spool inbox forget --inbox \(inbox.inbox) --store \(place.store)"
    #expect(without.text.contains("next:  \(forgetting)\n"), "\(without.text)")
    #expect(json.contains(#""next":["\#(forgetting)"]"#), "\(json)")
    let store = ["--store", place.store]
    #expect(try place.spool(["inbox", "forget", "--inbox", inbox.inbox] + store).exitCode == 0)
    #expect(try place.spool(["status", "--check"] + store).exitCode == 0)
  }

  @Test("as JSON it says how a watch came to its end")
  func stopped() throws {
    func stopped() throws -> String? {
      let status = try place.spool(["status", "--json"])
      let object = try JSONSerialization.jsonObject(with: status.output) as? [String: Any]
      return (object?["inboxes"] as? [[String: Any]])?.first?["stopped"] as? String
    }
    let killed = try inbox.watch()
    #expect(try stopped() == nil)
    killed.kill9()
    #expect(try stopped() == "killed")
    let ended = try inbox.watch()
    ended.send(SIGTERM)
    #expect(ended.end() == 0)
    try inbox.make(1)
    try inbox.shell("cp made/1.wav inbox/1.wav")
    #expect(try stopped() == "ended")
  }

  @Test("a watch that was stopped and ran out of time is not said to be killed")
  func cutShort() throws {
    try inbox.make(1, seconds: 900)
    let watch = try inbox.watch(["--drain", "1ms"])
    try inbox.shell("cp made/1.wav x.wav; mv x.wav inbox/long.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "received" } }, "\(watch.output)")
    #expect(try inbox.wait { try inbox.notes().map(\.state) == ["processing"] })
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    #expect(watch.news.last?.event == "stopped", "\(watch.output)")
    let told = try place.spool(["status"]).text
    #expect(
      told.contains(
        """
        inbox \(inbox.inbox): not watched since its watch was stopped, and ended before work under way \
        had reached a safe point
                   nothing is lost: the next watch goes on from what was noted last

        """), "\(told)")
    #expect(told.contains(" goes on with it\n"), "\(told)")
    let json = try place.spool(["status", "--json"]).text
    #expect(json.contains(#""stopped":"cut-short""#), "\(json)")
  }

  @Test("as JSON a file has its exact name, whatever the bytes of that are")
  func exactNames() throws {
    try inbox.make(1)
    let exact = "a%01b%25\u{e9}%FF\\.wav"
    let watch = try inbox.watch(["--attempts", "1", "--keep", "leave"])
    try inbox.shell("cp made/1.wav $'inbox/a\\x01b%\u{e9}\\xff\\\\.wav'")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    func objects(_ arguments: [String]) throws -> [[String: Any]] {
      try place.spool(arguments).text.split(separator: "\n").compactMap {
        try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      }
    }
    #expect(watch.output.contains(#""exactFile":"a%01b%25\#u{e9}%FF\\.wav""#), "\(watch.output)")
    let listed = try #require(try objects(["inbox", "list", "--json"]).first)
    #expect(listed["exactFile"] as? String == exact, "\(listed)")
    let shown = try #require(
      try objects(["inbox", "show", listed["key"] as? String ?? "", "--json"]).first)
    let file = try #require((shown["files"] as? [[String: Any]])?.first)
    #expect(file["path"] as? String == exact && file["location"] as? String == exact, "\(file)")
  }

  @Test("the file of exactly a name comes before one whose name is only shown like that")
  func namesShownAlike() throws {
    try inbox.make(1)
    try inbox.make(2)
    let watch = try inbox.watch(["--keep", "leave"])
    try inbox.shell("cp made/1.wav $'inbox/a\\x01b.wav'; cp made/2.wav 'inbox/a\\u{1}b.wav'")
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    // A watch takes a forgotten file anew.
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    func show(_ name: String) throws -> (file: String?, note: String) {
      let shown = try place.spool(["inbox", "show", name, "--json"])
      let page = try JSONSerialization.jsonObject(with: shown.output) as? [String: Any]
      return (page?["exactFile"] as? String, shown.errorOutput)
    }
    let exact = try show(#"a\u{1}b.wav"#)
    #expect(exact.file == #"a\u{1}b.wav"#, "\(exact)")
    #expect(exact.note.hasPrefix("note: ") && exact.note.contains("shown like that"), "\(exact)")
    // As it is printed, with nothing else of that name.
    #expect(try place.spool(["inbox", "forget", #"a\u{1}b.wav"#]).exitCode == 0)
    let printed = try show(#"a\u{1}b.wav"#)
    #expect(printed.file == "a%01b.wav" && printed.note == "", "\(printed)")
  }

  @Test("a sidecar that comes too late is said to lie where it lies")
  func refusedSidecar() throws {
    try inbox.make(1)
    let watch = try inbox.watch(["--keep", "leave"])
    try inbox.shell("echo '{\"title\":\"One\"}' > inbox/1.json; cp made/1.wav inbox/1.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    try inbox.shell("echo '{\"title\":\"Two\"}' > inbox/1.new; mv inbox/1.new inbox/1.json")
    #expect(inbox.wait { watch.news.contains { $0.event == "refused" } }, "\(watch.output)")
    let place = "\(inbox.inbox)/1.json"
    let told = try #require(watch.news.first { $0.event == "refused" }?.text)
    #expect(told.hasPrefix("it is left at \(place): "), "\(told)")
    let note = try #require(try inbox.notes().first)
    let shown = try self.place.spool(["inbox", "show", note.key]).text
    #expect(shown.contains("left there: \(place), which was not taken in"), "\(shown)")
    let json = try self.place.spool(["inbox", "show", note.key, "--json"]).text
    #expect(json.contains(#""leftFiles":["\#(place)"]"#), "\(json)")
  }

  @Test("a watch that was stopped in order is missed until its inbox is forgotten")
  func stoppedWatch() throws {
    let watch = try inbox.watch()
    #expect(inbox.wait { watch.news.contains { $0.event == "watching" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let stopped = try place.spool(["status", "--check"])
    #expect(stopped.exitCode == 1, "\(stopped.text)")
    #expect(stopped.text.contains("inbox \(inbox.inbox): not watched\n"), "\(stopped.text)")
    #expect(stopped.text.contains("next:  spool watch \(inbox.pipeline)"), "\(stopped.text)")
    let forgetting = "spool inbox forget --inbox \(inbox.inbox)"
    #expect(stopped.text.contains("\(forgetting) takes it off this list"), "\(stopped.text)")
    // A store that was moved or copied is named where it is now.
    try inbox.shell("cp -a '\(place.store)' copy")
    let copy = try place.spool(["status", "--store", place.file("copy")]).text
    let line = try #require(
      copy.split(separator: "\n").first { $0.hasPrefix("next:  spool watch") })
    #expect(line.contains(" --store \(place.file("copy"))"), "\(copy)")
    #expect(!line.contains(place.store), "\(copy)")
    try inbox.make(1)
    try inbox.shell("cp made/1.wav inbox/1.wav")
    let status = try place.spool(["status", "--check"])
    #expect(status.exitCode == 1, "\(status.text)")
    #expect(status.text.contains("1  recording waits in the inbox"), "\(status.text)")
    #expect(status.text.contains("next:  spool watch \(inbox.pipeline)"), "\(status.text)")
    #expect(try place.spool(["inbox", "forget", "--inbox", inbox.inbox]).exitCode == 0)
    #expect(try place.spool(["status", "--check"]).exitCode == 0)
    let nowhere = try place.spool(["status", "--check", "--store", place.file("no/where")])
    #expect(nowhere.exitCode == 1 && nowhere.errorOutput.contains("there is no store"))
  }

  @Test("as JSON it has every command and every recording, also more than the text lists")
  func allCommands() throws {
    for number in 1...7 { try inbox.make(number) }
    let sidecar = #"{"noteId":"7c1e4b0a-52d3-4e8f-9a16-3b0d2f6c8e41"}"#
    let watch = try inbox.watch(["--keep", "leave"])
    try inbox.shell("echo '\(sidecar)' > inbox/1.json; cp made/*.wav inbox/")
    #expect(
      inbox.wait { watch.news.count { $0.event == "uploaded" } == 7 }, "\(watch.output)")
    // Sidecars that come late claim the identity of the first.
    for number in 2...7 { try inbox.shell("echo '\(sidecar)' > inbox/\(number).json") }
    #expect(
      inbox.wait { watch.news.count { $0.event == "conflict" } == 6 }, "\(watch.output)")
    let status = try place.spool(["status", "--json"])
    let object = try JSONSerialization.jsonObject(with: status.output) as? [String: Any]
    let next = try #require(object?["next"] as? [String])
    #expect(next.count { $0.hasPrefix("spool inbox release ") } == 6, "\(next)")
    let troubles = try #require(object?["troubles"] as? [Any])
    #expect(troubles.count == 6)
    // The text has the first ten.
    let text = try place.spool(["status"]).text
    #expect(text.contains("more: spool status --json"), "\(text)")
  }

  @Test("a recording whose only copy lies in the inbox's folder is not said to lie in the store")
  func outside() throws {
    try inbox.make(1)
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/1.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    #expect(try place.spool(["status"]).text.contains("1  with a single copy, in this store"))
    let copy = place.file("copy.sqlite")
    #expect(try place.spool(["store", "backup", copy]).exitCode == 0)
    let other = ["--store", place.file("other")]
    #expect(try place.spool(["store", "restore", copy] + other).exitCode == 0)
    let status = try place.spool(["status"] + other).text
    #expect(status.contains("1  with a single copy, in a folder of their inbox"), "\(status)")
    #expect(!status.contains("in this store,"), "\(status)")
    // What is lost has no copy.
    try FileManager.default.removeItem(atPath: inbox.inbox + "/accepted/1.wav")
    let lost = try place.spool(["status"] + other).text
    #expect(lost.contains("  lost  ") && !lost.contains("single copy"), "\(lost)")
  }
}
