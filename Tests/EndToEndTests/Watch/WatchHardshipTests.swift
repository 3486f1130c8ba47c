import Foundation
import TestSupport
import Testing

/// The folder itself fails: its disk is full, it is deleted, or far too much comes at once.
@Suite("A watch gets over what happens to its inbox")
struct WatchHardshipTests {
  private let inbox: WatchedPlace
  private let place: Workspace

  init() throws {
    inbox = try WatchedPlace()
    place = inbox.place
  }

  @Test(
    "in an inbox on a full disk what is whole is processed, and what was cut off waits",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func fullInbox() throws {
    for number in 1...2 { try inbox.make(number, seconds: 20) }
    try #require(try inbox.shell("mount -t tmpfs -o size=2M tmpfs inbox"))
    defer { _ = try? inbox.shell("umount inbox") }
    try inbox.shell("cp made/1.wav inbox/one.wav")
    try #require(try inbox.shell("! cat /dev/zero > inbox/ballast.bin"))
    // As much of it as there is room for: what begins so is no whole recording.
    try inbox.shell("truncate -s -100K inbox/ballast.bin")
    try #require(try inbox.shell("! cp made/2.wav inbox/two.wav && test -s inbox/two.wav"))
    let watch = try inbox.watch()
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(
      try inbox.wait { try place.spool(["status"]).text.contains("two.wav: it is not whole") })
    #expect(inbox.wait { WatchedPlace.files(in: inbox.inbox).contains("accepted/one.wav") })
    #expect(!watch.news.contains { $0.event == "received" && $0.file == "two.wav" })
    try #require(try inbox.shell("rm inbox/ballast.bin && cp made/2.wav inbox/two.wav"))
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    #expect(
      inbox.wait {
        WatchedPlace.files(in: inbox.inbox) == ["accepted/one.wav", "accepted/two.wav"]
      })
  }

  @Test(
    "an output folder on a full disk costs no attempt, and is tried again a minute later",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func fullOutput() throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    try inbox.make(1, seconds: 20)
    try #require(try inbox.shell("! cat /dev/zero > '\(disk.path)/ballast'"))
    let watch = try inbox.watch(["--out", disk.path])
    try inbox.shell("cp made/1.wav inbox/one.wav")
    #expect(inbox.wait { watch.news.contains { $0.event == "retrying" } }, "\(watch.output)")
    let told = try #require(watch.news.first { $0.event == "retrying" })
    #expect(told.text?.contains("not enough room in \(disk.path)") == true, "\(watch.output)")
    // The pauses of counted attempts are shorter.
    #expect((told.seconds ?? 0) > 50, "\(watch.output)")
    let note = try #require(try inbox.notes().first)
    try inbox.shell("rm '\(disk.path)/ballast'")
    #expect(try place.spool(["inbox", "retry", note.key]).exitCode == 0)
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    #expect(watch.news.count { $0.event == "retrying" } == 1, "\(watch.output)")
    let page = try place.spool(["inbox", "show", note.key]).text
    #expect(page.contains("attempts:  1"), "\(page)")
  }

  @Test("an inbox that is deleted and made again goes on, and what was lost and comes back is told")
  func madeAgain() throws {
    for number in 1...2 { try inbox.make(number) }
    let watch = try inbox.watch()
    try inbox.shell("cp made/1.wav inbox/")
    #expect(inbox.wait { watch.news.contains { $0.event == "released" } }, "\(watch.output)")
    try inbox.shell("rm -r inbox")
    #expect(inbox.wait { watch.news.contains { $0.event == "lost" } }, "\(watch.output)")
    #expect(try place.spool(["status"]).text.contains("there is no such folder now"))
    try inbox.shell("mkdir inbox; cp made/1.wav made/2.wav inbox/")
    #expect(inbox.wait { watch.news.contains { $0.event == "back" } }, "\(watch.output)")
    #expect(inbox.wait { watch.news.count { $0.event == "uploaded" } == 2 }, "\(watch.output)")
    // The first is known, however it was lost.
    #expect(watch.news.count { $0.event == "duplicate" } == 1)
    #expect(
      inbox.wait { WatchedPlace.files(in: inbox.inbox) == ["accepted/1.wav", "accepted/2.wav"] })
  }

  @Test("many recordings at once, most of them repeats, are each taken once and acknowledged")
  func crowd() throws {
    let count = LongTests.areWanted ? 1000 : 200
    for number in 1...20 { try inbox.make(number, seconds: 0.1) }
    let watch = try inbox.watch()
    try inbox.shell(
      "mkdir crowd; for i in $(seq 1 \(count)); do cp made/$((i % 20 + 1)).wav crowd/$i.wav; done; "
        + "mv crowd inbox/crowd")
    let isDone = inbox.wait {
      WatchedPlace.files(in: inbox.inbox + "/accepted").count == count
    }
    #expect(isDone, "\(watch.output)")
    #expect(WatchedPlace.files(in: place.out).count == 20)
    let notes = try inbox.notes()
    #expect(notes.count == 20 && notes.allSatisfy { $0.state == "uploaded" })
    #expect(inbox.wait { watch.news.count { $0.event == "duplicate" } == count - 20 })
    #expect(inbox.wait { (try? inbox.acknowledgements().count) == 20 })
  }
}
