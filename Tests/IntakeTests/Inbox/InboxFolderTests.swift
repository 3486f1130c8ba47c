import Foundation
import Glibc
@testable import Intake
import Platform
import TestSupport
import Testing

/// By openat2(2), and by the steps for kernels without it.
@Suite("Opening what a stranger put into a folder")
struct InboxFolderTests {
  private let scratch: ScratchFolder
  private let inbox: String

  init() throws {
    scratch = try ScratchFolder()
    inbox = scratch.file("inbox")
    try FileManager.default.createDirectory(
      atPath: inbox + "/sub", withIntermediateDirectories: true)
    try scratch.write("sound", to: "inbox/sub/a.wav")
    try scratch.write("secret", to: "secret")
  }

  static let openings: [InboxFolder.Opening] = [.kernel, .stepwise]

  @Test("a file is opened with its stamp, its names and its bytes", arguments: openings)
  func file(opening: InboxFolder.Opening) throws {
    let folder = try InboxFolder(at: inbox, opening: opening)
    let path = try #require(InboxPath("sub/a.wav"))
    let file = try folder.open(path)
    let (stamp, firstCount, readingPath) = (file.stamp, file.nameCount, file.readingPath)
    #expect(stamp.byteCount == 5 && stamp.isRegularFile && firstCount == 1)
    let bytes = try file.bytes(atMost: 5)
    #expect(bytes == Array("sound".utf8))
    let seen = try folder.stamp(of: path)
    #expect(seen == stamp)
    #expect(try String(contentsOfFile: readingPath, encoding: .utf8) == "sound")
    do throws(SpoolError) {
      _ = try file.bytes(atMost: 4)
      Issue.record("five bytes are no more than four")
    } catch {
      #expect(error.kind == .tooLarge)
    }
    #expect(unsafe link(inbox + "/sub/a.wav", scratch.file("second")) == 0)
    let again = try folder.open(path)
    let nameCount = again.nameCount
    #expect(nameCount == 2)
  }

  @Test("nothing outside is reached through links, wherever they stand", arguments: openings)
  func links(opening: InboxFolder.Opening) throws {
    for (name, target) in [
      ("passwd", "/etc/passwd"), ("up", "../secret"), ("folder", ".."), ("inner", "sub/a.wav"),
      ("root", "/"), ("proc", "/proc/self/cwd"), ("loop", "loop"),
    ] {
      #expect(unsafe symlink(target, "\(inbox)/\(name)") == 0)
    }
    let folder = try InboxFolder(at: inbox, opening: opening)
    for path in [
      "passwd", "up", "folder", "inner", "loop", "folder/secret", "root/etc/passwd", "proc/x",
      "folder/inbox/sub/a.wav",
    ] {
      #expect(kind(of: path, in: folder) == .link, "\(path)")
    }
  }

  @Test("pipes, sockets, devices and folders are refused unopened", arguments: openings)
  func special(opening: InboxFolder.Opening) throws {
    #expect(unsafe mkfifo(inbox + "/pipe", 0o666) == 0)
    // A writer that waits for a reader would be let go by whoever opens the pipe.
    let writer = try #require(Program(named: "sh"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: writer.path)
    process.arguments = ["-c", "echo x > \(inbox)/pipe"]
    try process.run()
    let folder = try InboxFolder(at: inbox, opening: opening)
    #expect(kind(of: "pipe", in: folder) == .special)
    usleep(100_000)
    #expect(process.isRunning)
    // A program that was begun on a pool's thread has SIGTERM blocked.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(kind(of: "sub", in: folder) == .wrongKind)
    #expect(kind(of: "nothing", in: folder) == .missing)
    #expect(kind(of: "sub/a.wav/b", in: folder) == .wrongKind)
    if getuid() == 0 {
      // A terminal would become this process's own, and a tape would be rewound.
      #expect(unsafe mknod(inbox + "/null", S_IFCHR | 0o666, 0x103) == 0)
      #expect(kind(of: "null", in: folder) == .special)
    }
  }

  @Test("a giant that is nearly all hole is refused, a small one and a full one are not")
  func sparse() throws {
    let folder = try InboxFolder(at: inbox)
    for (name, byteCount) in [("giant", 3 << 30), ("small", 1 << 20)] {
      try scratch.write("RIFF", to: "inbox/\(name)")
      #expect(unsafe truncate("\(inbox)/\(name)", off_t(byteCount)) == 0)
    }
    #expect(kind(of: "giant", in: folder) == .sparse)
    #expect(kind(of: "small", in: folder) == nil)
  }

  @Test("a writer is seen for as long as it has the file open")
  func writers() throws {
    let folder = try InboxFolder(at: inbox)
    let path = try #require(InboxPath("sub/a.wav"))
    let file = try folder.open(path)
    let before = file.hasWriters()
    #expect(before == false)
    let writer = unsafe open(inbox + "/sub/a.wav", O_RDWR)
    let during = file.hasWriters()
    #expect(writer >= 0 && during == true)
    close(writer)
    let after = file.hasWriters()
    #expect(after == false)
  }

  @Test("a file that is exchanged stays the one that was opened")
  func exchanged() throws {
    let folder = try InboxFolder(at: inbox)
    let path = try #require(InboxPath("sub/a.wav"))
    let file = try folder.open(path)
    try scratch.write("other bytes", to: "other")
    #expect(unsafe rename(scratch.file("other"), inbox + "/sub/a.wav") == 0)
    let bytes = try file.bytes(atMost: 100)
    #expect(bytes == Array("sound".utf8))
    let (seen, stamp) = (try folder.stamp(of: path), file.stamp)
    #expect(seen != stamp)
    #expect(unsafe rename(inbox, scratch.file("away")) == 0)
    let isInPlace = folder.isInPlace
    #expect(!isInPlace)
    let other = try folder.open(path).bytes(atMost: 100)
    #expect(other == Array("other bytes".utf8))
  }

  @Test("a missing inbox says so")
  func missing() throws {
    do throws(SpoolError) {
      _ = try InboxFolder(at: scratch.file("nowhere"))
      Issue.record("there is no such inbox")
    } catch {
      #expect(error.kind == .missing && error.reason == "No such file or directory")
    }
  }

  /// What opening a path fails with; nil where it does not.
  private func kind(of path: String, in folder: borrowing InboxFolder) -> SpoolError.Kind? {
    guard let path = InboxPath(path) else { return nil }
    do throws(SpoolError) {
      _ = try folder.open(path)
      return nil
    } catch {
      return error.kind
    }
  }
}
