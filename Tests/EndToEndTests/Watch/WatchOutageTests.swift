import Foundation
import TestSupport
import Testing

/// Disks of others are unmounted, and folders moved away, while a watch goes on for months.
@Suite("A watch pauses while its results have nowhere to go")
struct WatchOutageTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  /// Takes a folder away, lets a recording arrive meanwhile, and gives the folder back.
  private func expectPause(
    _ watch: RunningWatch, words: String, advice: String = "", away: String, back: String
  ) throws {
    try inbox.make(2)
    try #require(try inbox.shell(away))
    #expect(inbox.wait { watch.news.contains { $0.event == "paused" } }, "\(watch.output)")
    #expect(watch.news.first { $0.event == "paused" }?.text?.contains(words) == true)
    try inbox.shell("cp made/2.wav inbox/")
    #expect(inbox.wait { watch.news.contains { $0.event == "received" && $0.file == "2.wav" } })
    let isTold = try inbox.wait { try place.spool(["status"]).text.contains("paused since 20") }
    let told = try place.spool(["status"]).text
    #expect(isTold && told.contains(words) && told.contains("goes on by itself"), "\(told)")
    #expect(advice.isEmpty || told.contains(advice), "\(told)")
    #expect(!watch.news.contains { $0.event == "uploaded" })
    let note = try #require(try inbox.notes().first { $0.file == "2.wav" })
    #expect(note.state == "received")
    try #require(try inbox.shell(back))
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(!watch.news.contains { ["retrying", "failed"].contains($0.event) })
    #expect(watch.news.count { $0.event == "paused" } == 1)
    #expect(watch.news.count { $0.event == "back" } == 1)
    #expect(inbox.wait { (try? place.spool(["status"]).text.contains("paused")) == false })
    #expect(
      inbox.wait { (try? inbox.acknowledgements()[note.key]?.status) == "uploaded" })
    let page = try place.spool(["inbox", "show", note.key]).text
    #expect(page.contains("attempts:  1"), "\(page)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test("an output folder that is moved away pauses the inbox until it is back")
  func missing() throws {
    let watch = try inbox.watch()
    try expectPause(
      watch, words: "the output folder \(place.out) cannot be used: No such file or directory",
      away: "mv out gone", back: "mv gone out")
    #expect(WatchedPlace.files(in: place.out) == ["2.wav"])
  }

  @Test(
    "an outbox on a full disk keeps a recording in the inbox until it is acknowledged, and status says so",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func fullOutbox() throws {
    try inbox.make(1)
    try #require(try inbox.shell("mount -t tmpfs -o size=64k tmpfs outbox"))
    defer { _ = try? inbox.shell("umount outbox") }
    try #require(try inbox.shell("! cat /dev/zero > outbox/ballast"))
    let watch = try inbox.watch(["--keep", "delete", "--single-copy"])
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(
      try inbox.wait { try place.spool(["status"]).text.contains("           trouble: ") })
    #expect(try place.spool(["status", "--check"]).exitCode == 1)
    #expect(try place.spool(["status", "--json"]).text.contains(#""problems":["#))
    #expect(!watch.news.contains { $0.event == "released" }, "\(watch.output)")
    #expect(WatchedPlace.files(in: inbox.inbox) == ["one.wav"])
    try inbox.shell("rm outbox/ballast")
    #expect(
      inbox.wait { watch.news.contains { $0.event == "released" } },
      "\(watch.output)")
    #expect(try inbox.acknowledgements().count == 1)
    #expect(WatchedPlace.files(in: inbox.inbox) == [])
    #expect(try inbox.wait { try place.spool(["status", "--check"]).exitCode == 0 })
  }

  @Test("an outbox that is moved away pauses the inbox, and is not made anew elsewhere")
  func missingOutbox() throws {
    let watch = try inbox.watch()
    try expectPause(
      watch, words: "the outbox \(inbox.outbox) cannot be used: No such file or directory",
      away: "mv outbox gone", back: "test ! -e outbox && mv gone outbox")
  }

  @Test(
    "a disk that is unmounted is not taken for the empty folder that it was mounted on",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func unmounted() throws {
    try inbox.shell("mkdir nas; mount -t tmpfs tmpfs nas; mkdir nas/notes")
    defer { _ = try? inbox.shell("umount nas") }
    let watch = try inbox.watch(["--out", place.file("nas/notes")])
    // What lies on it is kept aside, as on a machine that is switched off.
    try expectPause(
      watch, words: "nothing is mounted on \(place.file("nas"))",
      away: "umount nas; mkdir nas/notes",
      back: "rmdir nas/notes && mount -t tmpfs tmpfs nas && mkdir nas/notes")
    #expect(WatchedPlace.files(in: place.file("nas/notes")) == ["2.wav"])
  }

  @Test(
    "nothing is exported to a disk that went while a recording was processed",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func unmountedMeanwhile() throws {
    try inbox.shell("mkdir nas; mount -t tmpfs tmpfs nas; mkdir nas/notes")
    defer { _ = try? inbox.shell("umount nas") }
    try inbox.make(2)
    let watch = try inbox.watch(["--out", place.file("nas/notes")])
    try inbox.shell("cp made/2.wav inbox/")
    #expect(inbox.wait { watch.news.contains { $0.event == "received" } }, "\(watch.output)")
    try #require(try inbox.shell("umount nas && mkdir nas/notes"))
    #expect(inbox.wait { watch.news.contains { $0.event == "paused" } }, "\(watch.output)")
    #expect(WatchedPlace.files(in: place.file("nas/notes")) == [], "\(watch.output)")
    try #require(try inbox.shell("rmdir nas/notes && mount -t tmpfs tmpfs nas && mkdir nas/notes"))
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(WatchedPlace.files(in: place.file("nas/notes")) == ["2.wav"])
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
  }

  @Test(
    "a watch that begins without the disk of its output folder waits for it",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func unmountedBetweenWatches() throws {
    try inbox.shell("mkdir nas; mount -t tmpfs tmpfs nas; mkdir nas/notes")
    defer { _ = try? inbox.shell("umount nas") }
    let out = ["--out", place.file("nas/notes")]
    let first = try inbox.watch(out)
    first.send(SIGTERM)
    #expect(first.end() == 0)
    // As after a boot at which the disk did not come: its mount point is a folder like any other.
    try #require(try inbox.shell("umount nas && mkdir nas/notes"))
    try inbox.make(2)
    try inbox.shell("cp made/2.wav inbox/")
    let second = try inbox.watch(out)
    #expect(inbox.wait { second.news.contains { $0.event == "paused" } }, "\(second.output)")
    #expect(
      second.news.first { $0.event == "paused" }?.text?.contains(
        "nothing is mounted on \(place.file("nas"))") == true)
    // What it says can be typed as it is.
    let line =
      "spool watch \(inbox.pipeline) \(inbox.inbox) --out \(place.file("nas/notes")) --outbox "
      + "\(inbox.outbox) --store \(place.store) --settle 300ms --json --ignore-mounts"
    #expect(
      second.news.first { $0.event == "paused" }?.text?.hasSuffix("and once \(line)") == true,
      "\(second.output)")
    #expect(inbox.wait { second.news.contains { $0.event == "received" } })
    #expect(try inbox.wait { try place.spool(["status"]).text.contains("paused since 20") })
    #expect(WatchedPlace.files(in: place.out).isEmpty)
    #expect(!second.news.contains { $0.event == "uploaded" })
    try #require(try inbox.shell("rmdir nas/notes && mount -t tmpfs tmpfs nas && mkdir nas/notes"))
    #expect(inbox.wait { second.news.contains { $0.event == "uploaded" } }, "\(second.output)")
    #expect(WatchedPlace.files(in: place.file("nas/notes")) == ["2.wav"])
    second.send(SIGTERM)
    #expect(second.end() == 0)
  }

  @Test(
    "the mount point of an inbox's disk is not taken for the inbox",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func unmountedInbox() throws {
    try inbox.shell("mount -t tmpfs tmpfs inbox")
    defer { _ = try? inbox.shell("umount inbox") }
    let first = try inbox.watch()
    first.send(SIGTERM)
    #expect(first.end() == 0)
    try #require(try inbox.shell("umount inbox"))
    try inbox.make(2)
    try inbox.make(3)
    try inbox.shell("cp made/2.wav inbox/")
    let second = try inbox.watch()
    #expect(inbox.wait { second.news.contains { $0.event == "paused" } }, "\(second.output)")
    // Longer than a file that is taken must rest.
    sleep(1)
    #expect(!second.news.contains { $0.event == "received" }, "\(second.output)")
    try inbox.shell("mount -t tmpfs tmpfs inbox; cp made/3.wav inbox/")
    #expect(
      inbox.wait { second.news.contains { $0.event == "uploaded" && $0.file == "3.wav" } },
      "\(second.output)")
    #expect(!second.news.contains { $0.event == "received" && $0.file == "2.wav" })
    second.send(SIGTERM)
    #expect(second.end() == 0)
    try #require(try inbox.shell("umount inbox"))
    // The disk is gone for good.
    let third = try inbox.watch(["--ignore-mounts"])
    #expect(
      inbox.wait { third.news.contains { $0.event == "uploaded" && $0.file == "2.wav" } },
      "\(third.output)")
    third.send(SIGTERM)
    #expect(third.end() == 0)
    let fourth = try inbox.watch()
    try inbox.make(4)
    try inbox.shell("cp made/4.wav inbox/")
    #expect(
      inbox.wait { fourth.news.contains { $0.event == "uploaded" && $0.file == "4.wav" } },
      "\(fourth.output)")
  }

  @Test(
    "without the disk that all folders of a watch lie on, none is made in their place",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func unmountedPlace() throws {
    let folders = ["in", "out", "ack"].map { place.file("nas/\($0)") }
    try inbox.shell("mkdir nas; mount -t tmpfs tmpfs nas; mkdir nas/in")
    defer { _ = try? inbox.shell("umount nas") }
    let arguments = [
      "watch", inbox.pipeline, folders[0], "--out", folders[1], "--outbox", folders[2],
      "--settle", "300ms", "--json",
    ]
    func watch() throws -> RunningWatch {
      try RunningWatch(
        try SpoolProgram.program, arguments, environment: place.environment,
        folder: place.folder.path)
    }
    let first = try watch()
    #expect(inbox.wait { first.news.contains { $0.event == "watching" } }, "\(first.output)")
    first.send(SIGTERM)
    #expect(first.end() == 0)
    try #require(try inbox.shell("umount nas"))
    // As long as the disk is away, a watch waits for it.
    let waiting = try watch()
    #expect(
      inbox.wait {
        waiting.news.contains {
          $0.event == "paused" && $0.text?.contains("nothing is mounted on") == true
        }
      }, "\(waiting.output)")
    #expect(Workspace.names(in: place.file("nas")) == [])
    try #require(try inbox.shell("mount -t tmpfs tmpfs nas; mkdir nas/in nas/out nas/ack"))
    try inbox.make(2)
    try inbox.shell("cp made/2.wav nas/in/")
    #expect(
      inbox.wait { waiting.news.contains { $0.event == "uploaded" && $0.file == "2.wav" } },
      "\(waiting.output)")
    waiting.send(SIGTERM)
    #expect(waiting.end() == 0)
    try #require(try inbox.shell("umount nas"))
    // Made all the same, it is not taken for the inbox, and nothing is made beside it.
    try #require(try inbox.shell("mkdir nas/in"))
    let second = try watch()
    #expect(inbox.wait { second.news.contains { $0.event == "paused" } }, "\(second.output)")
    second.send(SIGTERM)
    #expect(second.end() == 0)
    #expect(Workspace.names(in: place.file("nas")) == ["in"])
  }

  @Test(
    "a disk that became read-only pauses the inbox",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func readOnly() throws {
    let disk = try SmallDisk(byteCount: 16 << 20)
    let watch = try inbox.watch(["--out", disk.path])
    try expectPause(
      watch, words: "Read-only file system",
      advice: "let its disk be written to again, as with mount -o remount,rw \(disk.path);",
      away: "mount -o remount,ro '\(disk.path)'", back: "mount -o remount,rw '\(disk.path)'")
  }

  @Test("a folder that goes while a recording is worked on costs no attempt")
  func underWay() throws {
    try inbox.make(1, seconds: 600)
    let watch = try inbox.watch(["--jobs", "1"])
    try inbox.shell("cp made/1.wav inbox/")
    #expect(
      try inbox.wait { try inbox.notes().first?.state == "processing" }, "\(watch.output)")
    try inbox.shell("mv out gone")
    #expect(inbox.wait { watch.news.contains { $0.event == "paused" } }, "\(watch.output)")
    #expect(
      try inbox.wait { try inbox.notes().first?.state == "received" }, "\(watch.output)")
    #expect(!watch.news.contains { ["retrying", "failed"].contains($0.event) })
    try inbox.shell("mv gone out")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
  }
}
