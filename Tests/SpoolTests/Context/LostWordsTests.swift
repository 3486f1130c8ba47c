import Foundation
import PipelineModel
import Platform
@testable import Search
import Store
import TestSupport
import Testing
@testable import spool

@Suite("Words that are lost come with a command that finds them again, or with none")
struct LostWordsTests {
  private let scratch: ScratchFolder
  private let store: DiskStore

  init() throws {
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
  }

  /// Saves a run that found words in a file, and says what is said of their loss.
  private func lines(of path: String, digest: Digest, pipeline: String) throws -> [String] {
    var run = RunRecord(
      id: RunID("20261121-142205-3f9a"), pipeline: "voice", pipelinePath: pipeline,
      inputs: ["note": path], overrides: [:], startedAt: 1_700_000_000)
    run.recordings = ["note": digest]
    run.state = .done
    run.finishedAt = 1_700_000_001
    try store.runs.save(run)
    let lost = LostWords(recording: path, run: run.id.name)
    let lines = lost.lines(in: store, option: nil)
    #expect((lost.command(in: store, option: nil) == nil) == (lines.count == 1), "\(lines)")
    return lines
  }

  @Test("of files that are where they were, the same run")
  func files() throws {
    let (sound, pipeline) = (scratch.file("a.wav"), scratch.file("voice.yaml"))
    let digest = SHA256.digest(of: "sound")
    #expect(try lines(of: sound, digest: digest, pipeline: pipeline).count == 1)
    try Data("pipeline: voice".utf8).write(to: URL(fileURLWithPath: pipeline))
    #expect(try lines(of: sound, digest: digest, pipeline: pipeline).count == 1)
    try Data("sound".utf8).write(to: URL(fileURLWithPath: sound))
    #expect(
      try lines(of: sound, digest: digest, pipeline: pipeline).last
        == "next:  spool run \(pipeline) note=\(sound)")
  }

  @Test(
    "of a recording of an inbox, its original, if the store has it; nobody is sent into the store",
    arguments: ["/old/spool", nil])
  func inbox(oldStore: String?) throws {
    let original = try store.makeArtifact("original", kind: .sound)
    let recording = try store.recordings.admit(
      RecordingArrival(
        pipeline: "voice", inbox: "/inbox", path: "a.m4a",
        stamp: RecordingFileStamp(inode: 1, byteCount: 8, modified: 7, changed: 8),
        fileName: "a.m4a", recording: original), conflicts: .quarantine
    ).recording
    let work = String(repeating: "5", count: 32)
    let path = [oldStore ?? store.path, "work", "\(work).1", "a.m4a"].joined(separator: "/")
    func lines() throws -> [String] {
      try self.lines(of: path, digest: original.digest, pipeline: "/p/voice.yaml")
    }
    let told = try lines()
    #expect(told.last == "next:  spool inbox export \(recording.key)")
    #expect(told.first?.hasPrefix("the words of a.m4a (\(recording.key)), from run") == true)
    try FileManager.default.removeItem(atPath: store.path(of: original))
    #expect(try lines().count == 1)
    _ = try store.recordings.forget(recording.key)
    let forgotten = try lines()
    #expect(forgotten.count == 1)
    #expect(forgotten[0].contains("; its recording was removed from the store; spool words forget"))
  }
}
