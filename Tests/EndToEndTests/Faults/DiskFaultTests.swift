import Foundation
import TestSupport
import Testing

/// Real faults under the real program. `SPOOL_LONG_TESTS=1` lets them strike at more points.
@Suite(
  "A disk that fails costs work, and never a wrong file", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct DiskFaultTests {
  private static let strace = Program(named: "strace")

  private let fixture: FaultFixture
  private var place: Workspace { fixture.place }

  init() throws { fixture = try FaultFixture() }

  // MARK: Full disks

  @Test(
    "a disk that is too small, a little less each time, refuses until it is large enough",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func growingDisk() throws {
    let disk = try SmallDisk(byteCount: 100_000)
    let places = ["--store", disk.path + "/store", "--out", disk.path + "/out"]
    var failures = 0
    for byteCount in stride(
      from: 100_000, through: 64_000_000, by: LongTests.areWanted ? 300_000 : 900_000)
    {
      try disk.resize(toByteCount: byteCount)
      let run = try fixture.run(places)
      try fixture.expectHonesty(of: run, out: disk.path + "/out", "a disk of \(byteCount) bytes")
      if run.exitCode == 0 { break }
      failures += 1
    }
    #expect(failures >= 2)
    try fixture.expectCompletion(after: "a disk that grew", places, out: disk.path + "/out")
  }

  /// When in a run its disk gets full, and how many bytes are left then.
  struct Squeeze: CustomTestStringConvertible, Sendable {
    let event: String
    let times: Int
    let room: Int
    var testDescription: String { "\(room) bytes left after \(times) × \(event)" }

    static let all = [("pass", 1), ("progress", 4), ("finished", 1), ("pass", 2)].flatMap {
      restartPoint in
      [0, 30_000, 200_000, 900_000].map {
        Squeeze(event: restartPoint.0, times: restartPoint.1, room: $0)
      }
    }
  }

  @Test(
    "a disk that gets full at any time ends the run with a word, and with room again it goes on",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"),
    arguments: LongTests.points(Squeeze.all, each: 3))
  func fullDisk(squeeze: Squeeze) throws {
    let disk = try SmallDisk(byteCount: 64 << 20)
    let out = disk.path + "/out"
    let places = ["--store", disk.path + "/store", "--out", out]
    let running = try fixture.start(places)
    _ = try running.waits(for: "\"event\":\"\(squeeze.event)\"", times: squeeze.times)
    try disk.squeeze(toRoomFor: squeeze.room)
    let run = try running.end().run
    try fixture.expectHonesty(of: run, out: out, "\(squeeze)")
    if run.exitCode == 1 {
      #expect(run.errorOutput.contains(fullDiskWords(of: disk.path)), "\(run.errorOutput)")
      let runs = try place.spool(["runs", "--store", disk.path + "/store"])
      #expect(runs.text.contains("paused: disk full"), "\(squeeze): \(runs.text)")
      #expect(runs.errorOutput.contains("free some space first"), "\(squeeze)")
    }
    try disk.resize(toByteCount: 64 << 20)
    try fixture.expectCompletion(after: "\(squeeze)", places, out: out)
  }

  @Test(
    "a store on a disk that may only be read is refused by whoever writes, and read by the others",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func readOnlyDisk() throws {
    let disk = try SmallDisk(byteCount: 64 << 20)
    let store = ["--store", disk.path + "/store"]
    let run = try fixture.run(store)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    try Reference.output("mount", ["-o", "remount,ro", disk.path])
    let writers = [
      ["run", fixture.pipeline, fixture.recording], ["resume"], ["store", "gc"],
      ["store", "repair"], ["store", "backup"],
      ["store", "restore"], ["batch", fixture.pipeline, place.folder.path],
    ]
    for words in writers {
      let result = try place.spool(words + store)
      #expect(result.exitCode == 1, "\(words)")
      let complaint = try #require(Complaint(result.errorOutput), "\(words): \(result.errorOutput)")
      #expect(complaint.what.contains("cannot write in the store \(disk.path)/store"), "\(words)")
      #expect(complaint.why == "Read-only file system" && complaint.next.contains("--store"))
    }
    let id = try #require(run.record?.id)
    let looks = [
      ["runs"], ["runs", "show", id], ["why", id], ["store", "check"], ["status"],
      ["store", "gc", "--dry-run"],
      ["store", "repair", "--dry-run"], ["store", "backup", place.file("copy.sqlite")],
    ]
    for words in looks {
      let result = try place.spool(words + store)
      #expect(result.exitCode == 0, "\(words): \(result.errorOutput)")
    }
  }

  @Test(
    "a run that cannot fit is refused, and told to begin nevertheless it pauses where the disk is full",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func ignoredRoom() throws {
    let disk = try SmallDisk(byteCount: 64 << 20)
    let out = disk.path + "/out"
    let places = ["--store", disk.path + "/store", "--out", out]
    try disk.squeeze(toRoomFor: 3 << 20)
    let refused = try fixture.run(places)
    #expect(refused.exitCode == 1)
    #expect(refused.complaint?.what.contains("not enough room") == true, "\(refused.errorOutput)")
    #expect(refused.complaint?.next.contains("--ignore-room") == true)
    #expect(refused.record?.state == "refused")
    let paused = try fixture.run(places + ["--ignore-room"])
    #expect(paused.exitCode == 1)
    #expect(paused.warnings.contains { $0.contains("where a disk gets full, the run pauses") })
    let complaint = try #require(paused.complaint, "\(paused.errorOutput)")
    #expect(complaint.what.contains(fullDiskWords(of: disk.path)), "\(complaint)")
    let id = try #require(paused.record?.id)
    #expect(complaint.next.contains("spool resume \(id)"))
    let runs = try place.spool(["runs", "--store", disk.path + "/store"])
    #expect(runs.text.contains(id), "it names a run that is not there: \(runs.text)")
    try fixture.expectHonesty(of: paused, out: out, "a disk that is too small")
    try disk.resize(toByteCount: 64 << 20)
    try fixture.expectCompletion(after: "a disk that is too small", places, out: out)
  }

  // MARK: Disks that report errors

  /// Runs under strace, which makes chosen calls fail instead of being made, and expects that it
  /// did. Calls are counted in each thread by itself.
  private func run(
    failing calls: String, when: String, of path: String? = nil
  ) throws -> SpoolRun {
    let strace = try #require(Self.strace)
    let log = place.file("strace")
    let run = try fixture.run(
      under: strace,
      ["-f", "-qq", "-o", log] + (path.map { ["-P", $0] } ?? []) + [
        "-e", "trace=\(calls)", "-e", "inject=\(calls):error=EIO:when=\(when)",
      ])
    let calls = try String(contentsOfFile: log, encoding: .utf8)
    #expect(calls.contains("(INJECTED)"), "nothing failed, so nothing was tested")
    return run
  }

  @Test(
    "a flush that fails is never taken for one that did not",
    .enabled(if: strace != nil, "the strace program is not installed"),
    arguments: LongTests.points(
      ["1", "1+", "2", "2+", "3", "4", "5+", "6", "8", "10", "12"], each: 3))
  func failedFlush(when: String) throws {
    let fault = "EIO at flush \(when)"
    let run = try run(failing: "fsync,fdatasync", when: when)
    if when.hasSuffix("+") { #expect(run.exitCode == 1, "\(fault)") }
    try fixture.expectHonesty(of: run, fault)
    try fixture.expectCompletion(after: fault)
  }

  // The loader takes the first two reads for libraries, and cannot start the program without.
  @Test(
    "a database or a file that cannot be read ends the run, or makes no difference",
    .enabled(if: strace != nil, "the strace program is not installed"),
    arguments: LongTests.points([3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96], each: 3))
  func failedRead(number: Int) throws {
    let fault = "EIO at read \(number)"
    let run = try run(failing: "pread64", when: "\(number)")
    try fixture.expectHonesty(of: run, fault)
    try fixture.expectCompletion(after: fault)
  }

  @Test(
    "a recording with a bad sector is not taken for a shorter one",
    .enabled(if: strace != nil, "the strace program is not installed"),
    arguments: LongTests.points([1, 2, 3, 5, 10, 20], each: 2))
  func badSector(number: Int) throws {
    let fault = "EIO at read \(number) of the recording"
    let run = try run(failing: "read,pread64", when: "\(number)+", of: fixture.recording)
    #expect(run.exitCode == 1, "\(fault)")
    try fixture.expectHonesty(of: run, fault)
    try fixture.expectCompletion(after: fault)
  }
}
