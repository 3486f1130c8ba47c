import Foundation
import TestSupport
import Testing

/// What is not all there is waited for, and whoever asks is told.
@Suite("A watch waits for what is not whole, and says so")
struct WatchWaitingTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  private func status() throws -> String { try place.spool(["status"]).text }

  @Test(
    "half a recording waits in whatever container it comes, and is processed once it is whole",
    .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
  func halves() throws {
    let names = [
      "a.opus", "b.ogg", "c.mka", "d.webm", "e.w64", "f.flac", "g.caf", "h.wma", "i.mp3", "j.aiff",
      "k.au", "l.m4a", "m.wav",
    ]
    for (number, name) in names.enumerated() {
      let command =
        "ffmpeg -v error -f lavfi -i sine=frequency=\(300 + 20 * number):sample_rate=48000:"
        + "duration=3 made/\(name)"
      #expect(try inbox.shell(command), "\(name)")
    }
    let watch = try inbox.watch()
    for name in names {
      try inbox.shell(
        "head -c $(($(stat -c %s made/\(name)) / 2)) made/\(name) > inbox/\(name)")
    }
    let isWaiting = try inbox.wait {
      try status().contains("\(names.count)  not taken in yet")
    }
    let told = try status()
    #expect(isWaiting, "\(told)")
    #expect(!watch.news.contains { $0.event == "received" }, "\(watch.output)")
    for name in names { try inbox.shell("cat made/\(name) > inbox/\(name)") }
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == names.count })
    #expect(watch.news.count { $0.event == "received" } == names.count, "a half was taken")
    for name in names {
      let accepted = inbox.inbox + "/accepted/" + name
      #expect(
        inbox.wait {
          FileManager.default.contentsEqual(atPath: accepted, andPath: place.file("made/" + name))
        }, "\(name)")
    }
  }

  @Test("a plain copy is taken in a settle period after its last write")
  func plainCopy() throws {
    try inbox.make(1, seconds: 5)
    let watch = try inbox.watch(["--settle", "2s"])
    // An empty look at it first, as a copy begins.
    let writer = try inbox.begin(
      "exec 3>inbox/copy.wav; sleep 0.7; cat made/1.wav >&3; exec 3>&-; date +%s.%N > closed")
    writer.waitUntilExit()
    let closed = try #require(
      Double(
        try String(contentsOfFile: place.file("closed"), encoding: .utf8)
          .trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(inbox.wait { watch.news.contains { $0.event == "received" } })
    let received = try #require(watch.news.first { $0.event == "received" })
    let delay = received.at.seconds - closed
    #expect(delay >= 1.9 && delay < 3.5, "\(delay) s")
  }

  @Test(
    "another user's writer that stalls is waited for, though nobody may ask who has the file open",
    .enabled(if: getuid() == 0, "only root can be two users"))
  func stranger() throws {
    let setpriv = try #require(Program(named: "setpriv"))
    try inbox.make(1, seconds: 3)
    // The watch is somebody who may write into the folders, and may not ask about root's files.
    try inbox.shell("chmod -R a+rwX . ; mkdir -p store && chmod 777 store")
    let watch = try RunningWatch(
      setpriv,
      ["--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--no-new-privs"]
        + [
          try SpoolProgram.program.path, "watch", place.file("pipeline.yaml"), inbox.inbox,
          "--out", place.out, "--outbox", inbox.outbox, "--settle", "300ms", "--json",
        ],
      environment: [
        "SPOOL_STORE": place.file("nobody"), "SPOOL_KEYS": place.file("nobody-keys"),
      ], folder: place.folder.path)
    inbox.wait { !watch.isRunning || watch.news.contains { $0.event == "watching" } }
    try #require(watch.isRunning, "\(watch.errors)")
    // Once it takes anything, it sees every write.
    try inbox.make(2)
    try inbox.shell("cp made/2.wav inbox/")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    // What it has so far looks whole: it is sound without a declared length.
    let writer = try inbox.begin(
      "exec 3>inbox/slow.wav; head -c 4 made/1.wav >&3; printf '\\377\\377\\377\\377' >&3; "
        + "tail -c +9 made/1.wav | head -c 20000 >&3; until test -e go; do sleep 0.05; done; "
        + "tail -c +20009 made/1.wav >&3")
    #expect(
      try inbox.wait {
        try place.spool(["status", "--store", place.file("nobody")]).text
          .contains("slow.wav: somebody has it open for writing")
      })
    #expect(!watch.news.contains { $0.file == "slow.wav" }, "\(watch.output)")
    try inbox.shell("touch go")
    writer.waitUntilExit()
    #expect(
      inbox.wait { watch.news.contains { $0.event == "uploaded" && $0.file == "slow.wav" } },
      "\(watch.output)")
    #expect(watch.news.count { $0.event == "received" && $0.file == "slow.wav" } == 1)
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains("accepted/slow.wav") })
    let whole = try FileManager.default.attributesOfItem(atPath: place.file("made/1.wav"))[.size]
    let taken = try FileManager.default.attributesOfItem(
      atPath: inbox.inbox + "/accepted/slow.wav")[.size]
    #expect(taken as? Int == whole as? Int)
  }

  @Test("the same noteId with other tags and the same sound is the same recording once more")
  func retagged() throws {
    try inbox.make(1)
    let sidecar = #"{"noteId":"7C1E4B0A-52D3-4E8F-9A16-3B0D2F6C8E41"}"#
    let watch = try inbox.watch()
    try inbox.shell("echo '\(sidecar)' > inbox/one.json; cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } })
    try inbox.shell(
      "echo '\(sidecar)' > inbox/two.json; cp made/1.wav x.wav; "
        + "printf 'LIST\\4\\0\\0\\0abcd' >> x.wav; mv x.wav inbox/two.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "duplicate" } }, "\(watch.output)")
    #expect(!watch.news.contains { $0.event == "conflict" })
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).count == 4 })
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox).allSatisfy { $0.hasPrefix("accepted/") } })
    #expect(WatchedPlace.files(in: place.out) == ["one.wav"])
    let acks = try inbox.acknowledgements()
    let id = "7C1E4B0A-52D3-4E8F-9A16-3B0D2F6C8E41"
    #expect(acks[id]?.noteId == id && acks[id]?.status == "uploaded")
  }

  @Test("a note's page tells all, and what is wrong with its sidecar is told once")
  func pages() throws {
    try inbox.make(3)
    let watch = try inbox.watch()
    try inbox.shell(
      #"echo '{"createdAt":"2026-03-14T09:26:53Z","watchModel":"Watch7,1","durationMs":"x","#
        + #""mood":{"calm":true}}' > inbox/3.json; cp made/3.wav inbox/3.wav"#
    )
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    let note = try #require(try inbox.notes().first { $0.file == "3.wav" })
    let page = try place.spool(["inbox", "show", note.key]).text
    for line in [
      "created:   2026-03-14T09:26:53Z", "duration:", "recorder:  Watch7,1",
      "watchModel: Watch7,1", #"mood:      {"calm":true}"#, "run:", "export:    \(place.out)/3.wav",
    ] {
      #expect(page.contains(line), "\(line) is missing in\n\(page)")
    }
    #expect(watch.news.count { $0.event == "warning" && $0.file != nil } == 1, "\(watch.output)")
  }

  @Test(
    "a full disk keeps nobody from asking how things stand",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func fullDisk() throws {
    let disk = try SmallDisk(byteCount: 16 << 20)
    try inbox.make(1)
    let store = ["--store", disk.path + "/store"]
    let watch = try inbox.watch(store)
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    watch.kill9()
    try inbox.shell("cat /dev/zero > '\(disk.path)/ballast'")
    let status = try place.spool(["status"] + store)
    #expect(status.exitCode == 0 && status.text.contains("1  uploaded"), "\(status.errorOutput)")
    #expect(try place.spool(["inbox", "list"] + store).text.contains("one.wav"))
  }

  @Test("what failed is named with its reason, and retried all at once")
  func failures() throws {
    for number in 1...2 { try inbox.make(number) }
    let watch = try inbox.watch(["--attempts", "1"])
    // Nobody can put exports where the folder is a file.
    try inbox.shell(
      "mkdir inbox/sub && touch out/sub && cp made/1.wav made/2.wav inbox/sub/")
    #expect(inbox.wait { watch.news.count { $0.event == "failed" } == 2 }, "\(watch.output)")
    let told = try status()
    #expect(
      told.contains("failed") && told.contains("1.wav: cannot use the folder")
        && told.contains("/out/sub: there is a file of that name"), "\(told)")
    try inbox.shell("rm out/sub")
    let retried = try place.spool(["inbox", "retry", "--all"])
    #expect(retried.exitCode == 0 && retried.text.split(separator: "\n").count == 2)
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    // A file that is still in the inbox when its recording is forgotten is taken in anew.
    #expect(inbox.wait { watch.news.count { $0.event == "released" } == 2 }, "\(watch.output)")
    let notes = try inbox.notes().map(\.key)
    #expect(try place.spool(["inbox", "forget"] + notes).exitCode == 0)
    #expect(inbox.wait { Workspace.names(in: inbox.outbox) == ["state.json"] })
    #expect(try place.spool(["inbox", "retry", "--all", "x"]).exitCode == 2)
  }

  @Test(
    "a right sidecar that lies in the inbox counts from the retry on, watched or not",
    arguments: [false, true])
  func mendedSidecar(isWatched: Bool) throws {
    _ = try place.pipeline(
      """
      pipeline: quick
      inputs: { note: sound }
      vars: { peak: { value: -3 dB, overridable: true } }
      stages:
        - decode: { from: $note }
        - normalize: { peak: $peak }
        - export: { formats: [wav] }
      """)
    try inbox.make(1)
    var watch = try inbox.watch()
    try inbox.shell(
      #"echo '{"spool":{"set":{"peek":"-20 dB"}}}' > inbox/1.json; cp made/1.wav inbox/"#)
    #expect(inbox.wait { watch.news.contains { $0.event == "quarantined" } }, "\(watch.output)")
    let key = try #require(try inbox.notes().first).key
    if !isWatched {
      watch.send(SIGTERM)
      #expect(watch.end() == 0)
    }
    try inbox.shell(#"echo '{"spool":{"set":{"peak":"-20 dB"}}}' > inbox/1.json"#)
    #expect(try place.spool(["inbox", "retry", key]).exitCode == 0)
    if !isWatched { watch = try inbox.watch() }
    try #require(
      inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(
      watch.news.count { $0.event == "quarantined" } == (isWatched ? 1 : 0), "\(watch.output)")
    let peak = try Reference.floats(of: place.out + "/1.wav").map(abs).max() ?? 1
    #expect(abs(peak - 0.1) < 0.001, "\(peak)")
    // It goes with its recording, under its name.
    let sidecar = inbox.inbox + "/accepted/1.json"
    #expect(
      inbox.wait {
        (try? String(contentsOfFile: sidecar, encoding: .utf8))?.contains("\"peak\"") == true
      }, "\(WatchedPlace.files(in: inbox.inbox)) \(watch.output)")
  }

  @Test("exports are called as the template says, and none takes another's place")
  func template() throws {
    for number in 1...2 { try inbox.make(number) }
    let watch = try inbox.watch(["--name", "{folder}/{date}-{title}"])
    let sidecar = #"{"createdAt":"2026-03-14T09:26:53Z","title":"../Lunch/x"}"#
    try inbox.shell(
      "mkdir inbox/calls; for i in 1 2; do echo '\(sidecar)' > inbox/calls/$i.json; done")
    try inbox.shell("for i in 1 2; do cp made/$i.wav inbox/calls/; done")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    let files = WatchedPlace.files(in: place.out)
    #expect(files.count == 2 && files.contains("calls/2026-03-14-Lunch-x.wav"), "\(files)")
    #expect(files.allSatisfy { $0.hasPrefix("calls/2026-03-14-Lunch-x") })
    // The list of runs names what arrived.
    let runs = try place.spool(["runs", "list"]).text
    #expect(runs.contains("  1.wav") && runs.contains("  2.wav"), "\(runs)")
    #expect(!runs.contains("Lunch"), "\(runs)")
    // Of an old tape, only the month may be known.
    try inbox.make(3)
    try inbox.shell("echo '{\"createdAt\":\"1987-05\",\"title\":\"Tape\"}' > inbox/3.json")
    try inbox.shell("cp made/3.wav inbox/")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 3 }, "\(watch.output)")
    #expect(
      WatchedPlace.files(in: place.out).contains { $0.hasSuffix("1987-05-Tape.wav") },
      "\(WatchedPlace.files(in: place.out))")
    let refused = try place.spool(
      ["watch", "pipeline.yaml", "inbox", "--out", "out", "--name", "{title"])
    #expect(refused.exitCode == 2 && refused.errorOutput.contains("a brace is not closed"))
    let misspelt = try place.spool(
      ["watch", "pipeline.yaml", "inbox", "--out", "out", "--name", "{titel}"])
    #expect(misspelt.exitCode == 2 && misspelt.errorOutput.contains("perhaps {title}"))
  }

  @Test(
    "on a full disk nothing is lost: it waits in the inbox, and is taken once there is room",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func fullStore() throws {
    let disk = try SmallDisk(byteCount: 32 << 20)
    try inbox.make(1, seconds: 5)
    let watch = try inbox.watch(["--store", disk.path + "/store"])
    try inbox.shell("cat /dev/zero > '\(disk.path)/ballast'; cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "trouble" } }, "\(watch.output)")
    #expect(WatchedPlace.files(in: inbox.inbox) == ["one.wav"] && watch.isRunning)
    try inbox.shell("rm '\(disk.path)/ballast'")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)"
    )
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox) == ["accepted/one.wav"] })
    #expect(watch.news.count { $0.event == "uploaded" } == 1)
  }

  @Test("less sound than the sidecar says is waited for, then taken with a warning that stays")
  func doubt() throws {
    try inbox.make(1, seconds: 2)
    let watch = try inbox.watch(["--give-up", "3s"])
    try inbox.shell(#"echo '{"duration":20}' > inbox/1.json; cp made/1.wav inbox/1.wav"#)
    let words = "its sidecar says 20.0 s, and it holds 2.0 s of sound"
    #expect(try inbox.wait { try status().contains("1.wav: " + words) })
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    let first = try #require(watch.news.first { $0.event == "watching" })
    let received = try #require(watch.news.first { $0.event == "received" })
    #expect(received.at.seconds - first.at.seconds >= 3)
    #expect(watch.news.contains { $0.event == "warning" && $0.text?.contains(words) == true })
    let told = try status()
    #expect(told.contains("doubtful") && told.contains(words), "\(told)")
    let note = try #require(try inbox.notes().first)
    #expect(try place.spool(["inbox", "show", note.key]).text.contains("doubt:     " + words))
  }
}
