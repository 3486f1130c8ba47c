import Foundation
import TestSupport
import Testing

@Suite(
  "A store on a disk that fails",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct StoreDiskTests {
  private let place: Workspace
  private let note: String
  private let pipeline: String

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 1)
    pipeline = try place.quickPipeline()
    try #require(place.run(pipeline, [note]).exitCode == 0)
  }

  @Test(
    "a store on a disk that may only be read can be looked at",
    .enabled(if: SmallDisk.isPossible, "this machine does not let tests mount"))
  func readOnly() throws {
    let store = try ReadOnlyFolder(place.store)
    for arguments in [["runs"], ["runs", "show", "last"], ["store", "check"]] {
      let result = try place.spool(arguments + ["--store", store.path])
      #expect(result.exitCode == 0, "\(arguments): \(result.errorOutput)")
    }
    #expect(try place.spool(["runs", "--store", store.path]).text.contains("note.wav"))
    let run = try place.spool(["run", pipeline, note, "--store", store.path, "--out", place.out])
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("error:"), "\(run.errorOutput)")
  }

  @Test(
    "a store on a full disk can be looked at, also after a kill",
    .enabled(if: SmallDisk.isPossible, "this machine does not let tests mount"),
    arguments: [false, true])
  func fullDisk(isKilled: Bool) throws {
    let disk = try SmallDisk(byteCount: 32 << 20)
    let store = disk.path + "/store"
    let places = ["--store", store, "--out", place.out + "-2"]
    if isKilled {
      let long = place.file("long.wav")
      try Reference.record(long, seconds: 60, rate: 22050, channels: 1)
      let running = try place.start(pipeline, [long], places)
      #expect(try running.waits(for: #""event":"progress""#))
      running.send(SIGKILL)
      _ = try running.end()
    } else {
      #expect(try place.run(pipeline, [note], places).exitCode == 0)
    }
    try disk.squeeze(toRoomFor: 0)
    for arguments in [
      ["runs"], ["runs", "show", "last"], ["status"], ["why", "last"], ["store", "check"],
    ] {
      let result = try place.spool(arguments + ["--store", store])
      #expect(result.exitCode == 0, "\(arguments): \(result.errorOutput)")
      #expect(!result.text.isEmpty && !result.errorOutput.contains("error:"), "\(arguments)")
    }
  }

  @Test(
    "a disk that gives errors is called that, whatever the command",
    .enabled(if: Program(named: "strace") != nil, "the strace program is not installed"),
    arguments: [["runs"], ["status"], ["why", "last"], ["store", "check"], ["run"]])
  func unreadable(command: [String]) throws {
    let strace = try #require(Program(named: "strace"))
    let arguments = command == ["run"] ? ["run", pipeline, note, "--out", place.out] : command
    for number in [2, 4, 6, 10] {
      let database = place.store + "/spool.sqlite"
      let result = try place.spool(
        arguments, under: strace,
        [
          "-f", "-qq", "-o", place.file("strace"), "-P", database, "-e", "trace=pread64",
          "-e", "inject=pread64:error=EIO:when=\(number)+",
        ])
      let trace = try String(contentsOfFile: place.file("strace"), encoding: .utf8)
      #expect(trace.contains("(INJECTED)"), "nothing failed, so nothing was tested")
      let complaint = try #require(Complaint(result.errorOutput), "\(result.errorOutput)")
      #expect(result.exitCode == 1 && complaint.what == "cannot read \(database)", "\(number)")
      #expect(complaint.why.contains("Input/output error"), "\(complaint)")
      #expect(complaint.next.contains("disk may be failing"), "\(complaint)")
    }
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }
}
