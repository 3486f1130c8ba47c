import Foundation
import Glibc
@testable import Store
import Testing

@Suite struct ProcessIdentityTests {
  @Test("this process lives, and reads back as itself")
  func current() throws {
    let identity = ProcessIdentity.current
    #expect(identity.isAlive && identity.number == getpid() && identity.start > 0)
    #expect(ProcessIdentity("\(identity)") == identity)
  }

  @Test("an earlier process or boot with the same number does not live")
  func others() {
    let now = ProcessIdentity.current
    let earlier = ProcessIdentity(boot: now.boot, number: now.number, start: now.start - 1)
    let otherBoot = ProcessIdentity(boot: "ffffffff", number: now.number, start: now.start)
    #expect(!earlier.isAlive && !otherBoot.isAlive)
  }

  @Test("a process lives until it has ended, though it be stopped")
  func ended() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sleep")
    process.arguments = ["60"]
    try process.run()
    let stat = try String(
      contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
    let fields = stat.split(separator: " ")
    let identity = ProcessIdentity(
      boot: ProcessIdentity.current.boot, number: process.processIdentifier,
      start: try #require(UInt64(fields[21])))
    #expect(identity.isAlive && !identity.isStopped)
    #expect(kill(process.processIdentifier, SIGSTOP) == 0)
    for _ in 0..<500 where !identity.isStopped { usleep(2000) }
    #expect(identity.isAlive && identity.isStopped)
    #expect(kill(process.processIdentifier, SIGKILL) == 0)
    process.waitUntilExit()
    #expect(!identity.isAlive && !identity.isStopped)
  }

  @Test("a process that has ended does not live, though its parent has not asked how it ended")
  func unasked() throws {
    var number: pid_t = 0
    let word = unsafe strdup("true")
    defer { unsafe free(word) }
    let started = unsafe posix_spawn(&number, "/bin/true", nil, nil, [word, nil], nil)
    #expect(started == 0)
    let ended = waitid(P_PID, id_t(number), nil, WEXITED | WNOWAIT)
    #expect(ended == 0)
    let stat = try String(contentsOfFile: "/proc/\(number)/stat", encoding: .utf8)
    let identity = ProcessIdentity(
      boot: ProcessIdentity.current.boot, number: number,
      start: try #require(UInt64(stat.split(separator: " ")[21])))
    #expect(!identity.isAlive)
    let asked = waitpid(number, nil, 0)
    #expect(asked == number)
  }

  @Test(
    "other words are no identity", arguments: ["", "a-b-c", "a-1", "a-0-1", "a-1-2-3", "a--1-2"])
  func words(text: String) {
    #expect(ProcessIdentity(text) == nil)
  }

  @Test("a draft's name says whose it is, and other names do not")
  func draftNames() {
    let name = AbandonedFiles.newName(for: .current)
    #expect(AbandonedFiles.owner(inName: name) == .current)
    #expect(AbandonedFiles.owner(inName: "notes.txt") == nil)
    #expect(AbandonedFiles.owner(inName: "a.b.part") == nil)
  }
}
