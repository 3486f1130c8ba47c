import Foundation
import TestSupport
import Testing

@Suite(
  "A disk that is full to the last byte can be freed",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"),
  .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
struct FullDiskCareTests {
  private static let freeing = ["store", "gc", "--older-than", "0s", "--grace", "0s"]

  private let fixture: FaultFixture
  private let disk: SmallDisk
  private var place: Workspace { fixture.place }
  private var store: [String] { ["--store", disk.path + "/store"] }
  private var out: String { disk.path + "/out" }

  init() throws {
    fixture = try FaultFixture()
    disk = try SmallDisk(byteCount: 64 << 20)
    let other = place.file("other.wav")
    try Reference.record(other, seconds: 90, rate: 22050, channels: 1)
    let done = try place.run(fixture.pipeline, [other], store + ["--out", place.file("other-out")])
    try #require(done.exitCode == 0, "\(done.errorOutput)")
  }

  /// Begins a run that pauses because the disk is full, and takes what room is left after that.
  private func pause() throws {
    try disk.squeeze(toRoomFor: 1 << 20)
    let run = try fixture.run(store + ["--out", out, "--ignore-room"])
    try #require(
      run.errorOutput.contains(fullDiskWords(of: disk.path)), "\(run.errorOutput)")
    try disk.squeeze(toRoomFor: 0)
  }

  private func expectCompletion(after fault: String) throws {
    let resumed = try place.spool(["resume"] + store)
    #expect(resumed.exitCode == 0, "\(fault): \(resumed.errorOutput)")
    #expect(Workspace.names(in: out) == fixture.expected.keys.sorted(), "\(fault)")
    for (name, bytes) in fixture.expected {
      #expect(try Data(contentsOf: URL(fileURLWithPath: out + "/" + name)) == bytes, "\(fault)")
    }
    #expect(try place.spool(["store", "check"] + store).exitCode == 0, "\(fault)")
  }

  @Test("gc frees what can be made again, and the run that paused goes on")
  func freed() throws {
    try pause()
    let plan = try place.spool(Self.freeing + ["--dry-run"] + store)
    #expect(plan.exitCode == 0 && plan.text.contains("would free"), "\(plan.errorOutput)")
    #expect(try place.spool(["runs"] + store).text.contains("paused: disk full"))
    let gc = try place.spool(Self.freeing + store)
    #expect(gc.exitCode == 0 && gc.text.contains("freed "), "\(gc.text)\(gc.errorOutput)")
    #expect(gc.text.contains("1 unfinished run kept"), "\(gc.text)")
    try expectCompletion(after: "gc")
  }

  @Test("a store that never got room for its first record has lost nothing")
  func unborn() throws {
    try disk.squeeze(toRoomFor: 0)
    let new = ["--store", disk.path + "/new"]
    let run = try fixture.run(new + ["--out", place.file("new-out")])
    #expect(run.exitCode == 1)
    try #require(FileManager.default.fileExists(atPath: disk.path + "/new/spool.sqlite"))
    let check = try place.spool(["store", "check"] + new)
    #expect(check.exitCode == 0, "\(check.text)")
    #expect(check.text.contains("nothing was in it yet"), "\(check.text)")
  }

  @Test("gc that is killed anywhere can be called again", arguments: [1, 2, 4, 6, 8, 10, 11])
  func killed(operation: Int) throws {
    try pause()
    let killed = try place.spool(
      Self.freeing + store, environment: ["SPOOL_CRASH_BEFORE": "\(operation)"])
    try #require(killed.exitCode != 0, "it was not killed: \(killed.text)")
    #expect(try place.spool(["store", "check"] + store).exitCode == 0)
    let gc = try place.spool(Self.freeing + store)
    #expect(gc.exitCode == 0, "\(gc.errorOutput)")
    try expectCompletion(after: "a kill before operation \(operation)")
  }

  @Test("a run is dropped, and backed up elsewhere, where there is no room")
  func dropped() throws {
    try pause()
    let copy = place.file("copy.sqlite")
    #expect(try place.spool(["store", "backup", copy] + store).text == "backed up to \(copy)\n")
    let drop = try place.spool(["runs", "forget", "last"] + store)
    #expect(drop.exitCode == 0 && drop.text.hasPrefix("dropped "), "\(drop.errorOutput)")
    let gc = try place.spool(Self.freeing + store)
    #expect(gc.text.contains("1 unfinished pass"), "\(gc.text)\(gc.errorOutput)")
    #expect(try place.spool(["store", "check"] + store).exitCode == 0)
  }
}
