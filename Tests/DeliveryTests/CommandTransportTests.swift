@testable import Delivery
import Foundation
import Platform
import TestSupport
import Testing

@Suite("A user's own programs deliver, and their work is checked")
struct CommandTransportTests {
  private let scratch: ScratchFolder
  private let environment = ["PATH": "/usr/bin:/bin"]

  init() throws {
    scratch = try ScratchFolder()
    try FileManager.default.createDirectory(
      atPath: scratch.file("there"), withIntermediateDirectories: false)
  }

  private func script(_ text: String, _ words: String...) -> [String] {
    ["sh", "-c", text, "sh"] + words
  }

  /// Programs that keep files in a folder.
  private var copying: Destination.Command {
    let there = scratch.file("there/{name}")
    var command = Destination.Command(
      send: script(
        "mkdir -p \"$(dirname \"$2\")\" && cp \"$1\" \"$2.tmp\" && mv -n \"$2.tmp\" \"$2\"",
        "{file}",
        there),
      read: ["cat", there])
    command.remove = ["rm", there]
    command.list = script("cd \"$1\" && find . -type f", scratch.file("there"))
    return command
  }

  @Test("programs that copy get what every transport promises")
  func conformance() throws {
    var transport = CommandTransport(copying, environment)
    try TransportConformance(ScratchFolder(), canStop: false).check(&transport)
  }

  @Test(
    "rclone's programs deliver",
    .enabled(if: LocalServer.path(of: "rclone") != nil, "rclone is not installed"))
  func rclone() throws {
    let there = scratch.file("there/{name}")
    let options = ["--config", scratch.file("rclone.conf")]
    let command = Destination.Command(
      send: ["rclone", "copyto", "--immutable", "{file}", there] + options,
      read: ["rclone", "cat", "--error-on-no-transfer", there] + options)
    var transport = CommandTransport(command, environment)
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 1 << 20)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let target = try RemotePath("a/b.wav")
    _ = try transport.send(file, to: target, from: nil, note: { _ in }) { _ in true }
    #expect(FileManager.default.contents(atPath: scratch.file("there/a/b.wav")) == Data(bytes))
  }

  @Test("what a program says or spoils is found out")
  func failures() throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 3000)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let cases: [(send: [String], read: [String], remedy: Remedy, words: String)] = [
      (
        script("echo oh; echo 'no \u{1B}[31mroom' >&2; exit 3"), ["false"], .retry,
        "3: no  [31mroom"
      ),
      (["true"], ["false"], .retry, "exit code 1"),
      (script("kill -9 $$"), ["false"], .retry, "exit code 137"),
      (["no-such-program"], ["false"], .hold, "no such program"),
      (
        script("touch \(scratch.file("done"))"),
        script("test -e \(scratch.file("done")) && head -c 3000 /dev/zero"), .giveUp, "other bytes"
      ),
      (
        script("touch \(scratch.file("more"))"),
        script("test -e \(scratch.file("more")) && cat /dev/zero"), .giveUp, "more than 3000"
      ),
    ]
    for (send, read, remedy, words) in cases {
      var transport = CommandTransport(
        Destination.Command(send: send, read: read), environment)
      let error = #expect(throws: SpoolError.self) {
        try transport.send(file, to: RemotePath("a.wav"), from: nil, note: { _ in }) { _ in true }
      }
      #expect(error?.remedy == remedy, "\(send): \(String(describing: error))")
      #expect(error?.description.contains(words) == true, "\(send): \(String(describing: error))")
    }
    var transport = CommandTransport(
      Destination.Command(send: ["true"], read: ["cat", "{name}"]), environment)
    let option = #expect(throws: SpoolError.self) { try transport.find(RemotePath("-rf")) }
    #expect(option?.remedy == .giveUp)
    #expect(throws: SpoolError.self) { try transport.removeProbe(RemotePath.probe("0a1b2c3d")) }
  }

  @Test("a program that hangs is stopped with all that it started")
  func stops() throws {
    let (path, bytes) = try Sample.file(in: scratch, byteCount: 10)
    let file = try OutgoingFile(path, digest: SHA256.digest(of: bytes))
    let number = scratch.file("number")
    let hanging = script("sleep 600 & echo $! > \(number); wait")
    var transport = CommandTransport(
      Destination.Command(send: hanging, read: ["false"]), environment)
    #expect(throws: SpoolError.cancelled) {
      try transport.send(file, to: RemotePath("a.wav"), from: nil, note: { _ in }) { _ in
        (try? FileStamp(at: number).byteCount) ?? 0 == 0
      }
    }
    let text = try String(contentsOfFile: number, encoding: .utf8)
    let child = try #require(Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    var isGone = false
    for _ in 0..<500 where !isGone {
      // What is killed may wait for init to take note.
      let state = SmallFile.text(at: "/proc/\(child)/stat")?.split(separator: ")").last
      isGone = state.map { $0.hasPrefix(" Z") } ?? true
      if !isGone { usleep(10_000) }
    }
    #expect(isGone)
  }
}
