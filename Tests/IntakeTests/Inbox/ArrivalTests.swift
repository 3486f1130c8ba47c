import Foundation
import Glibc
@testable import Intake
import Platform
import TestSupport
import Testing

/// Real programs bring recordings to a watched folder.
@Suite("An inbox")
struct ArrivalTests {
  @Test("takes a recording that was moved in, and one that replaces another")
  func movedIn() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("a.wav")
    try inbox.shell("mv a.wav inbox/a.wav")
    #expect(await inbox.waitForSettled("a.wav"))
    try inbox.prepare("b.wav", byteCount: 5000)
    try inbox.shell("mv b.wav inbox/a.wav")
    await inbox.wait(for: "the second version") { $0.count { $0.settledName == "a.wav" } == 2 }
    let sizes = inbox.told.compactMap { arrival -> Int64? in
      if case .settled(let recording) = arrival { return recording.stamp.byteCount }
      return nil
    }
    #expect(sizes == [4000, 5000])
  }

  @Test("waits for a slow writer, also where the writer stalls or opens the file for each piece")
  func slowWriter() async throws {
    let inbox = try LiveInbox()
    let byteCount = 40_000
    try inbox.prepare("source", byteCount: byteCount)
    // 50 kB/s, with a stall of a second that the open file gives away.
    let held = try inbox.begin(
      """
      exec 3>inbox/held.wav
      for i in 0 1 2 3 4 5 6 7; do
        dd if=source bs=5000 skip=$i count=1 2>/dev/null >&3; sleep 0.1
        [ $i = 5 ] && sleep 1
      done
      """)
    let reopened = try inbox.begin(
      """
      for i in 0 1 2 3 4 5 6 7; do
        dd if=source bs=5000 skip=$i count=1 2>/dev/null >>inbox/reopened.wav; sleep 0.2
      done
      """)
    try await held.end()
    try await reopened.end()
    #expect(await inbox.waitForSettled("held.wav"))
    #expect(await inbox.waitForSettled("reopened.wav"))
    for case .settled(let recording) in inbox.told {
      #expect(recording.stamp.byteCount == Int64(byteCount), "\(recording.path) settled early")
    }
    #expect(inbox.settled.count == 2)
  }

  @Test("does not settle what somebody holds open, however whole and old it looks")
  func heldOpen() async throws {
    let inbox = try LiveInbox { $0.cautiousRestPeriod = $0.restPeriod }
    try inbox.prepare("source")
    let holder = try inbox.begin(
      "cp -p source inbox/held.wav; exec 3>>inbox/held.wav; touch -d 2001-01-01 inbox/held.wav; "
        + "touch open; while [ ! -e release ]; do sleep 0.05; done")
    await inbox.wait(forFile: "open")
    try await inbox.settleLater()
    #expect(inbox.settled == ["later.wav"] && holder.isRunning)
    try inbox.shell("touch release")
    try await holder.end()
    #expect(await inbox.waitForSettled("held.wav"))
  }

  @Test("leaves Syncthing's temporary file alone, and takes it under its final name")
  func syncthing() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("source")
    try inbox.shell("cp source inbox/.syncthing.note.wav.tmp; cp source inbox/x.wav.part")
    try await inbox.settleLater()
    #expect(inbox.told.count == 1, "\(inbox.told)")
    try inbox.shell("mv inbox/.syncthing.note.wav.tmp inbox/note.wav")
    #expect(await inbox.waitForSettled("note.wav"))
    #expect(inbox.told.count == 2, "\(inbox.told)")
  }

  @Test("an old modification time is no rest: a copy with `cp -p` waits like any other")
  func oldTimes() async throws {
    let inbox = try LiveInbox { $0.restPeriod = .seconds(1) }
    try inbox.prepare("source")
    try inbox.shell("touch -d '2009-01-01' source; cp -p source inbox/old.wav")
    #expect(await inbox.waitForSettled("old.wav"))
    #expect(inbox.rests.allSatisfy { $0 >= 1 }, "\(inbox.rests)")
  }

  @Test("says that a recording has several names")
  func hardLink() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("source")
    try inbox.shell("ln source inbox/linked.wav")
    #expect(await inbox.waitForSettled("linked.wav"))
    for case .settled(let recording) in inbox.told { #expect(recording.nameCount == 2) }
  }

  @Test("takes a thousand recordings at once, each once, in folders as well")
  func thousand() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("source", byteCount: 100)
    try inbox.shell(
      "mkdir batch batch/deep; i=0; while [ $i -lt 500 ]; do echo batch/$i.wav batch/deep/$i.wav; "
        + "i=$((i+1)); done > names; tee $(cat names) < source > /dev/null; mv batch inbox/batch")
    await inbox.wait(for: "all thousand", seconds: 30) {
      $0.count { $0.settledName != nil } >= 1000
    }
    #expect(Set(inbox.settled).count == 1000 && inbox.settled.count == 1000)
  }

  @Test("refuses links, pipes and folders behind links, and opens none of them")
  func hostileKinds() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("secret.wav")
    try inbox.shell(
      """
      mkdir outside; cp secret.wav outside/a.wav
      ln -s /etc/passwd inbox/passwd.wav; ln -s ../outside inbox/folder; mkfifo inbox/pipe.wav
      ln -s nowhere inbox/dangling.wav
      """)
    await inbox.wait(for: "four refusals") { $0.count { $0.refusal != nil } == 4 }
    let refused = Dictionary(
      inbox.told.compactMap(\.refusal).map { ($0.name, $0.kind) }, uniquingKeysWith: { $1 })
    #expect(
      refused == [
        "passwd.wav": .link, "folder": .link, "dangling.wav": .link, "pipe.wav": .special,
      ])
    try await inbox.settleLater()
    #expect(inbox.settled == ["later.wav"])
  }

  @Test("gives an empty file up once, and takes it all the same when it is filled")
  func empty() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("source")
    try inbox.shell(": > inbox/empty.wav")
    await inbox.wait(for: "the empty file") { !$0.isEmpty }
    try await inbox.settleLater()
    #expect(inbox.told.map(\.hopeless) == ["empty.wav: it is empty", nil])
    try inbox.shell("cat source > inbox/empty.wav")
    #expect(await inbox.waitForSettled("empty.wav"))
  }

  @Test("an empty file that somebody has open for writing is not given up")
  func emptyAndOpen() async throws {
    let inbox = try LiveInbox()
    try inbox.prepare("source")
    let writer = try inbox.begin(
      "exec 3>inbox/slow.wav; touch open; while [ ! -e release ]; do sleep 0.05; done; "
        + "cat source >&3")
    defer { kill(writer.processIdentifier, SIGKILL) }
    await inbox.wait(forFile: "open")
    try inbox.shell(": > inbox/empty.wav")
    await inbox.wait(for: "the other empty file") { $0.contains { $0.hopeless != nil } }
    try inbox.shell("touch release")
    #expect(await inbox.waitForSettled("slow.wav"))
    #expect(inbox.told.map(\.hopeless) == ["empty.wav: it is empty", nil])
  }

  @Test("what is no recording by name or content is ignored, until it becomes one")
  func foreign() async throws {
    let inbox = try LiveInbox { $0.patience = .seconds(1) }
    try inbox.prepare("source")
    try inbox.shell("echo Hello > inbox/note.txt; : > inbox/nothing; echo x > inbox/x.pdf")
    await inbox.wait(for: "three files") { $0.count >= 3 }
    #expect(Set(inbox.told.map(\.ignored)) == ["note.txt", "nothing", "x.pdf"])
    try inbox.shell("(printf 'fLaC'; cat source) > inbox/nothing")
    await inbox.wait(for: "the recording") { $0.contains { $0.hopeless != nil } }
    #expect(inbox.told.compactMap(\.hopeless).first?.hasPrefix("nothing: it is not whole") == true)
  }

  @Test("reports a file that grows for ever, once, and never settles it")
  func endless() async throws {
    let inbox = try LiveInbox {
      $0.growthLimit = .seconds(1)
      // The writer may be kept from writing for a while, and that is no rest.
      $0.restPeriod = .seconds(3_600)
      $0.cautiousRestPeriod = .seconds(3_600)
    }
    try inbox.prepare("source", byteCount: 100)
    let writer = try inbox.begin(
      "cp source inbox/endless.wav; while :; do echo more >> inbox/endless.wav; sleep 0.05; done")
    defer { kill(writer.processIdentifier, SIGKILL) }
    await inbox.wait(for: "the endless file") {
      $0.contains { $0.unsettled?.reason == .stillWritten }
    }
    try inbox.shell("cp source inbox/later.wav")
    await inbox.wait(for: "a later file") {
      $0.contains { $0.unsettled?.name == "later.wav" }
    }
    #expect(inbox.told.compactMap(\.unsettled?.name) == ["endless.wav", "later.wav"])
    #expect(inbox.told.count == 2, "\(inbox.told)")
  }

  @Test("takes hostile names as bytes, and shows them on one line")
  func hostileNames() async throws {
    let inbox = try LiveInbox()
    let names: [[UInt8]] = [
      Array("new\nline.wav".utf8), [0xff, 0xfe] + Array(".wav".utf8),
      Array(String(repeating: "n", count: 251).utf8) + Array(".wav".utf8),
      Array("-rf $(reboot) \u{1b}[2J.wav".utf8),
    ]
    for name in names {
      let path = Array((inbox.path + "/").utf8) + name
      let file = unsafe open(path.map { CChar(bitPattern: $0) } + [0], O_WRONLY | O_CREAT, 0o644)
      #expect(file >= 0)
      let bytes = TestContainer.bytes(byteCount: 50)
      #expect(unsafe write(file, bytes, bytes.count) == bytes.count)
      close(file)
    }
    await inbox.wait(for: "four recordings") { $0.count { $0.settledName != nil } == 4 }
    let found = inbox.told.compactMap { arrival -> [UInt8]? in
      if case .settled(let recording) = arrival { return recording.path.bytes }
      return nil
    }
    #expect(Set(found) == Set(names))
    #expect(inbox.settled.allSatisfy { $0.unicodeScalars.allSatisfy { !$0.isInvisible } })
  }
}
