import Foundation
import Glibc
@testable import Intake
import Platform
import TestSupport
import Testing

/// Driven by hand, so that the kernel's line of events can run full while nobody reads it.
@Suite("Watching a folder")
struct FolderWatchTests {
  private let scratch: ScratchFolder
  private let inbox: String

  init() throws {
    scratch = try ScratchFolder()
    inbox = scratch.file("inbox")
    try make("inbox/sub")
  }

  private func make(_ folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: scratch.file(folder), withIntermediateDirectories: true)
  }

  /// A watch that has looked once.
  private func watch() -> FolderWatch {
    var watch = FolderWatch(path: inbox, names: UntouchedNames(), wake: WakeUp())
    _ = watch.wait(atMost: .zero)
    return watch
  }

  private func found(_ events: [InboxEvent]) -> Set<String> {
    Set(events.compactMap { if case .found(let path, _) = $0 { path.description } else { nil } })
  }

  private func gone(_ events: [InboxEvent]) -> Set<String> {
    Set(events.compactMap { if case .gone(let path) = $0 { path.description } else { nil } })
  }

  @Test("several events of one file are one look")
  func deduplicated() throws {
    var watch = watch()
    for text in ["a", "ab", "abc"] { try scratch.write(text, to: "inbox/a.wav") }
    let events = watch.wait(atMost: .seconds(5))
    #expect(
      events.count { if case .found = $0 { true } else { false } } == 1
        && found(events) == ["a.wav"])
    try Data("atomic".utf8).write(
      to: URL(fileURLWithPath: scratch.file("inbox/sub/b.wav")), options: .atomic)
    // The temporary name may have been seen, and has gone by now.
    #expect(found(watch.wait(atMost: .seconds(5))).contains("sub/b.wav"))
  }

  @Test("what was there before, and what came into new folders, is found")
  func folders() throws {
    try scratch.write("a", to: "inbox/sub/a.wav")
    var watch = FolderWatch(path: inbox, names: UntouchedNames(), wake: WakeUp())
    #expect(found(watch.wait(atMost: .zero)) == ["sub/a.wav"])
    try make("inbox/new/deep")
    try scratch.write("b", to: "inbox/new/deep/b.wav")
    #expect(found(watch.wait(atMost: .seconds(5))) == ["new/deep/b.wav"])
    try scratch.write("c", to: "inbox/new/deep/c.wav")
    #expect(found(watch.wait(atMost: .seconds(5))) == ["new/deep/c.wav"])
    #expect(unsafe rename(inbox + "/new", inbox + "/renamed") == 0)
    let moved = watch.wait(atMost: .seconds(5))
    #expect(found(moved) == ["renamed/deep/b.wav", "renamed/deep/c.wav"])
    #expect(gone(moved) == ["new/deep/b.wav", "new/deep/c.wav"])
    try scratch.write("d", to: "inbox/renamed/deep/d.wav")
    #expect(found(watch.wait(atMost: .seconds(5))) == ["renamed/deep/d.wav"])
    try FileManager.default.removeItem(atPath: inbox + "/renamed")
    #expect(
      gone(watch.wait(atMost: .seconds(5)))
        == ["renamed/deep/b.wav", "renamed/deep/c.wav", "renamed/deep/d.wav"])
  }

  @Test("it has begun, once, when it sees all that comes, or that the inbox is away")
  func begun() throws {
    var count = 0
    let scratch = scratch
    var watch = FolderWatch(
      path: inbox, names: UntouchedNames(),
      begun: {
        count += 1
        _ = try? scratch.write("a", to: "inbox/sub/a.wav")
      }, wake: WakeUp())
    #expect(count == 0 && found(watch.wait(atMost: .seconds(5))).isEmpty)
    #expect(count == 1 && found(watch.wait(atMost: .seconds(5))) == ["sub/a.wav"])
    #expect(count == 1)
    var absent = FolderWatch(
      path: inbox + "/nothing", names: UntouchedNames(), begun: { count += 1 }, wake: WakeUp())
    _ = absent.wait(atMost: .seconds(5))
    #expect(count == 2)
  }

  @Test("temporary and hidden names that stay are told, counted and left alone")
  func overlooked() throws {
    for name in [".walk.m4a", "talk.m4a.part", "sub/.syncthing.x.m4a.tmp"] {
      try scratch.write("x", to: "inbox/\(name)")
    }
    // Of these, nobody misses a recording.
    for name in [".DS_Store", "._walk.m4a", ".spool-1-2.tmp", "notes.lock", "old.m4a~"] {
      try scratch.write("x", to: "inbox/\(name)")
    }
    var patient = watch()
    patient.schedule.ask()
    #expect(
      !patient.wait(atMost: .zero).contains { if case .overlooked = $0 { true } else { false } })
    var watch = FolderWatch(
      path: inbox, names: UntouchedNames(), overlookedAge: .zero, wake: WakeUp())
    func told(_ events: [InboxEvent]) -> [IgnoredFiles] {
      events.compactMap { if case .overlooked(let files) = $0 { files } else { nil } }
    }
    let first = try #require(told(watch.wait(atMost: .zero)).first)
    #expect(first.count == 3)
    #expect(
      Set(first.files.map(\.path.description)) == [
        ".walk.m4a", "talk.m4a.part", "sub/.syncthing.x.m4a.tmp",
      ])
    #expect(first.since == first.files.map(\.since).min())
    watch.schedule.ask()
    #expect(told(watch.wait(atMost: .zero)).isEmpty)
    try FileManager.default.removeItem(atPath: inbox + "/sub")
    #expect(unsafe unlink(inbox + "/.walk.m4a") == 0)
    watch.schedule.ask()
    #expect(told(watch.wait(atMost: .zero)).map(\.count) == [1])
    #expect(try FileManager.default.contentsOfDirectory(atPath: inbox).count == 6)
  }

  @Test("only so many overlooked files are named, the oldest")
  func manyOverlooked() throws {
    var files = IgnoredFiles()
    for age in stride(from: Int64(100), to: 0, by: -1) {
      let path = try #require(InboxPath("\(age).part"))
      files.add(.init(path: path, reason: "", since: age))
    }
    #expect(files.count == 100 && files.since == 1)
    #expect(files.files.map(\.since) == Array(1...20))
  }

  @Test("what the kernel's full queue has dropped is found all the same")
  func overflow() throws {
    var watch = watch()
    try scratch.write("x", to: "inbox/0")
    let limit = try String(
      contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
    let renames = try #require(Int(limit.filter(\.isNumber))) / 2 + 10
    for index in 0..<renames {
      #expect(unsafe rename("\(inbox)/\(index % 2)", "\(inbox)/\(1 - index % 2)") == 0)
    }
    try scratch.write("late", to: "inbox/late.wav")
    try make("inbox/unseen")
    try scratch.write("late", to: "inbox/unseen/late.wav")
    var all: Set<String> = []
    let end = Date() + 10
    while !all.contains("unseen/late.wav"), Date() < end {
      all.formUnion(found(watch.wait(atMost: .milliseconds(100))))
    }
    #expect(all.contains("late.wav") && all.contains("unseen/late.wav"))
    try scratch.write("after", to: "inbox/unseen/after.wav")
    #expect(found(watch.wait(atMost: .seconds(5))) == ["unseen/after.wav"])
  }

  @Test("looking through the inbox finds what no event told, and opens nothing")
  func rescan() throws {
    for index in 0..<200 { try scratch.write("x", to: "inbox/\(index).wav") }
    var watch = watch()
    // Another line of events sees every opening; the folder itself is opened to be listed.
    let openings = inotify_init1(CInt(IN_NONBLOCK))
    defer { close(openings) }
    #expect(unsafe inotify_add_watch(openings, inbox, UInt32(IN_OPEN)) >= 0)
    watch.inotify = nil
    try FileManager.default.removeItem(atPath: inbox + "/7.wav")
    #expect(unsafe utimes(inbox + "/8.wav", nil) == 0)
    watch.schedule.ask()
    let events = watch.wait(atMost: .zero)
    #expect(found(events) == ["8.wav"] && gone(events) == ["7.wav"])
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe read(openings, &buffer, buffer.count)
    let opened = Inotify.Record.records(in: buffer[..<max(0, count)]).compactMap(\.name)
    #expect(opened.filter { $0.description != "sub" } == [])
    watch.schedule.ask()
    #expect(watch.wait(atMost: .zero) == [])
  }

  @Test("a folder that may not be read is reported once, and what was in it is not gone")
  func closedFolder() async throws {
    try scratch.write("x", to: "inbox/sub/a.wav")
    #expect(unsafe chmod(scratch.path, 0o755) == 0)
    await #expect(processExitsWith: .success) { [inbox = inbox as String] in
      var watch = FolderWatch(path: inbox, names: UntouchedNames(), wake: WakeUp())
      precondition(watch.wait(atMost: .zero).count == 1)
      precondition(unsafe chmod(inbox + "/sub", 0) == 0)
      if getuid() == 0 { precondition(setgid(65534) == 0 && setuid(65534) == 0) }
      watch.schedule.ask()
      let events = watch.wait(atMost: .zero)
      guard events.count == 1, case .refused(let path, let error) = events.first else {
        preconditionFailure("\(events)")
      }
      precondition(error.kind == .denied && path.description == "sub", "\(error)")
      watch.schedule.ask()
      precondition(watch.wait(atMost: .zero) == [])
    }
    #expect(unsafe chmod(inbox + "/sub", 0o755) == 0)
  }

  @Test("another folder at the inbox's place is noticed")
  func exchanged() throws {
    try scratch.write("x", to: "inbox/a.wav")
    var watch = watch()
    try make("other")
    try scratch.write("y", to: "other/b.wav")
    #expect(unsafe rename(inbox, scratch.file("away")) == 0)
    #expect(unsafe rename(scratch.file("other"), inbox) == 0)
    let events = watch.wait(atMost: .seconds(5))
    #expect(found(events) == ["b.wav"] && gone(events) == ["a.wav"])
  }

  @Test("file systems of other machines are told from those of this one")
  func remote() throws {
    #expect(InboxFolder.isRemote(kind: 0x6969) && InboxFolder.isRemote(kind: -1))
    #expect(
      !InboxFolder.isRemote(kind: 0xef53) && !InboxFolder.isRemote(kind: 0x0102_1994))
    let folder = try InboxFolder(at: "/proc/self")
    let isRemote = folder.isRemote
    #expect(!isRemote)
  }
}
