import Foundation
import TestSupport
import Testing

/// A disk that fills up says nothing about the recordings that had no room on it.
@Suite("A full disk pauses a batch")
struct BatchFullDiskTests {
  @Test(
    "a batch whose disk gets full fails no file, and goes on once there is room",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func paused() throws {
    let folder = try BatchFolder()
    let disk = try SmallDisk(byteCount: 8 << 20)
    for number in 1...10 {
      try Reference.record(
        folder.path + "/\(number).wav", seconds: 4 + 0.1 * Double(number), channels: 1)
    }
    let pipeline = try folder.pipeline(formats: "wav, flac")
    let out = disk.path + "/out"
    func batch(_ options: [String]) throws -> Program.Result {
      try folder.place.spool(
        ["batch", pipeline, folder.path, "--store", disk.path + "/store", "--out", out] + options)
    }
    func report() throws -> BatchFolder.Report {
      try JSONDecoder().decode(
        BatchFolder.Report.self, from: Data(contentsOf: URL(fileURLWithPath: out + "/batch.json")))
    }
    try disk.squeeze(toRoomFor: 5 << 20)
    let refused = try batch([])
    #expect(refused.exitCode == 1, "\(refused.errorOutput)")
    #expect(refused.errorOutput.contains("not enough room"), "\(refused.errorOutput)")
    let full = try batch(["--ignore-room", "--jobs", "2"])
    #expect(full.exitCode == 1, "\(full.text) \(full.errorOutput)")
    #expect(full.errorOutput.contains(fullDiskWords(of: disk.path)), "\(full.errorOutput)")
    #expect(full.errorOutput.contains("the same command goes on"), "\(full.errorOutput)")
    #expect(!full.text.contains("failed"), "\(full.text)")
    let halves = Workspace.names(in: out).filter { $0.hasPrefix(".") }
    #expect(halves.isEmpty, "\(halves)")
    try disk.resize(toByteCount: 256 << 20)
    let rest = try batch([])
    #expect(rest.exitCode == 0, "\(rest.errorOutput)")
    let whole = try report()
    #expect(whole.failed == 0 && whole.interrupted == 0 && whole.done + whole.reused == 10)
    #expect(whole.pause == nil)
    #expect(Workspace.names(in: out).count { $0.hasSuffix(".wav") } == 10)
  }

  private static let strace = Program(named: "strace")

  /// A file, and the calls that write it.
  struct Meeting: CustomTestStringConvertible, Sendable {
    let path: String
    let calls: String
    var testDescription: String { path }

    static let all = [
      Meeting(path: "store/changes-1", calls: "write"),
      Meeting(path: "store/spool.sqlite-wal", calls: "pwrite64"),
      Meeting(path: "out/2.wav", calls: "rename,renameat,renameat2"),
    ]
  }

  @Test(
    "a full disk is told alike, whichever file meets it",
    .enabled(if: strace != nil, "the strace program is not installed"), arguments: Meeting.all)
  func words(meeting: Meeting) throws {
    let strace = try #require(Self.strace)
    let folder = try BatchFolder()
    let pipeline = try folder.pipeline()
    try folder.putTiny(1, "1.wav")
    // A store is there, and no file in the output folder, which strace knows by the names of new ones.
    let other = ["batch", pipeline, folder.path, "--out", folder.place.file("other")]
    try #require(try folder.place.spool(other).exitCode == 0)
    try folder.putTiny(2, "2.wav")
    let log = folder.place.file("strace")
    let full = try folder.place.spool(
      ["batch", pipeline, folder.path, "--out", folder.place.out], under: strace,
      [
        "-f", "-qq", "-o", log, "-P", folder.place.file(meeting.path), "-e",
        "trace=\(meeting.calls)", "-e", "inject=\(meeting.calls):error=ENOSPC",
      ])
    #expect(try String(contentsOfFile: log, encoding: .utf8).contains("(INJECTED)"))
    #expect(full.exitCode == 1, "\(full.text) \(full.errorOutput)")
    #expect(full.errorOutput.contains(fullDiskWords(of: folder.place.folder.path)))
    #expect(full.errorOutput.contains("the same command goes on"), "\(full.errorOutput)")
    #expect(!full.text.contains("failed"), "\(full.text)")
    let rest = try folder.batch(pipeline)
    #expect(rest.exitCode == 0 && rest.report?.failed == 0, "\(rest.errorOutput)")
  }
}
