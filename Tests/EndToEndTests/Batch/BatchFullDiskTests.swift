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
    #expect(full.errorOutput.contains("is full"), "\(full.errorOutput)")
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
}
