import Foundation
import TestSupport
import Testing

/// Real programs bring recordings as phones, browsers and syncing programs do.
@Suite("A watch takes in whatever arrives, once and whole", .serialized)
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
      "mkfifo inbox/pipe.wav; ln -s /etc/passwd inbox/passwd.wav; : > inbox/empty.wav")
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
    #expect(WatchedPlace.files(in: inbox.inbox).contains("empty.wav"))
    #expect(!watch.news.contains { $0.event == "received" && $0.file == "empty.wav" })
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
