import Foundation
import TestSupport
import Testing

/// Lets `spool pipeline crashtest` kill real runs.
///
/// What runs everywhere takes seconds. `SPOOL_LONG_TESTS=1` adds 200 kills of each pipeline and a
/// kill before every single operation of the store, which takes minutes.
@Suite("A run can be killed anywhere", .serialized)
struct KillTests {
  /// A shipped pipeline and a recording for it.
  struct Work: CustomTestStringConvertible, Sendable {
    let pipeline: String
    let sample: String
    /// How many files it exports.
    let outputs: Int
    var testDescription: String { pipeline }

    static let all = [
      Work(pipeline: "voice-note.yaml", sample: "note-1.m4a", outputs: 3),
      Work(pipeline: "podcast.yaml", sample: "take.flac", outputs: 4),
    ]
  }

  private let place: Workspace

  init() throws { place = try Workspace() }

  @Test("at a few random moments, and every output is the same to the byte", arguments: Work.all)
  func atRandom(work: Work) throws {
    let kills = work.pipeline == "voice-note.yaml" ? 15 : 10
    try expectSurvival(of: work, kills: kills, seed: 20_261_121)
  }

  @Test(
    "at 200 random moments of each pipeline",
    .enabled(if: LongTests.areWanted, "SPOOL_LONG_TESTS is not set"), arguments: Work.all)
  func atManyMoments(work: Work) throws {
    try expectSurvival(of: work, kills: 200, seed: .random(in: 0..<1_000_000))
  }

  private func expectSurvival(of work: Work, kills: Int, seed: Int) throws {
    let result = try crashtest(
      [
        PackageFiles.pipeline(work.pipeline), PackageFiles.sample(work.sample),
        "--kills", "\(kills)", "--seed", "\(seed)",
      ])
    #expect(result.kills == kills)
    #expect(result.series >= 1)
    #expect(result.checks == kills + result.series)
    #expect(result.outputs == work.outputs * result.series)
  }

  @Test("at random moments of encoders that begin anew: MP3, Opus and Vorbis, with chapters")
  func lossy() throws {
    let take = place.file("take.flac")
    try Reference.record(
      take, seconds: 20,
      coding: ["-metadata", "CHAPTER000=00:00:05.000", "-metadata", "CHAPTER000NAME=One"])
    let pipeline = try place.pipeline(
      """
      pipeline: lossy
      inputs: { take: sound }
      stages:
        - decode
        - trim: { start: 2 s }
        - export: [mp3, opus, ogg, m4a]
      """)
    let result = try crashtest([pipeline, take, "--kills", "8", "--seed", "20261125"])
    #expect(result.kills == 8)
    #expect(result.outputs == 4 * result.series)
  }

  @Test(
    "before every so many operations of the store",
    .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"),
    arguments: [LongTests.areWanted ? 1 : 9])
  func beforeOperations(stride: Int) throws {
    let note = place.file("note.wav")
    try Reference.record(note, seconds: 1)
    let result = try crashtest(
      [
        try place.quickPipeline(formats: "wav"), note, "--at-every-write", "--every", "\(stride)",
      ])
    let operations = try #require(result.operations)
    #expect(operations > 40)
    #expect(result.kills >= operations / stride)
    #expect(result.outputs == result.series)
  }

  @Test("right behind the sealing of kept sound, which is not damaged then and not made anew")
  func sealed() throws {
    let note = place.file("note.wav")
    try Reference.record(note, seconds: 240)
    let pipeline = PackageFiles.pipeline("voice-note.yaml")
    // The moment between the sealing and the checkpoint is short.
    var isMet = false
    for _ in 0..<20 where !isMet {
      try? FileManager.default.removeItem(atPath: place.store)
      let running = try place.start(pipeline, [note])
      while running.isRunning, !isKeptSoundSealed { usleep(100) }
      running.send(SIGKILL)
      let exitCode = try running.end().run.exitCode
      isMet = exitCode == 128 + SIGKILL && isKeptSoundSealed
    }
    try #require(isMet)
    let resumed = try place.spool(["resume", "--json"])
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    let events = resumed.text.split(separator: "\n")
    for loss in ["dropped", "began-anew"] {
      #expect(!events.contains { $0.contains("\"event\":\"\(loss)\"") }, "\(resumed.text)")
    }
    #expect(events.contains { $0.contains("\"event\":\"resumed\"") }, "\(resumed.text)")
    let made = try place.export("note.wav")
    let other = try Workspace()
    #expect(try other.run(pipeline, [note]).exitCode == 0)
    #expect(try other.export("note.wav") == made)
  }

  /// Whether kept sound of unfinished work is an artifact by now.
  private var isKeptSoundSealed: Bool {
    let work = place.store + "/work"
    return Workspace.names(in: work).contains { folder in
      Workspace.names(in: work + "/" + folder).contains { name in
        let attributes = try? FileManager.default.attributesOfItem(
          atPath: "\(work)/\(folder)/\(name)")
        return name.hasSuffix(".sound") && attributes?[.referenceCount] as? Int ?? 1 > 1
      }
    }
  }

  @Test("Ctrl-C ends the test cleanly, and leaves nothing")
  func interrupted() throws {
    let running = try RunningSpool(
      SpoolProgram.program,
      [
        "pipeline", "crashtest", PackageFiles.pipeline("voice-note.yaml"),
        PackageFiles.sample("note-1.m4a"),
        "--kills", "1000", "--json",
      ], environment: ["TMPDIR": try scratch()], folder: place.folder.path)
    try #require(try running.waits(for: "\"killed\"", times: 2))
    #expect(Workspace.names(in: place.file("scratch")).count == 1)
    running.send(SIGINT)
    let (run, seconds) = try running.end()
    #expect(run.exitCode == 128 + SIGINT, "\(run.errorOutput)")
    #expect(seconds < 2)
    #expect(Workspace.names(in: place.file("scratch")) == [])
  }

  @Test("receipts of a test are signed with keys of its own, and the user's folder stays as it was")
  func keys() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: proved
      inputs: { note: sound }
      stages:
        - decode
        - export: [wav]
        - proof: {}
      """)
    let result = try place.spool([
      "pipeline", "crashtest", pipeline, PackageFiles.sample("note-1.m4a"), "--kills", "2",
      "--scratch",
      try scratch(),
    ])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(!FileManager.default.fileExists(atPath: place.keys), "it made keys of the user's")
  }

  @Test("a pipeline that is wrong, and a recording that is not there, are told as spool run does")
  func refusals() throws {
    let bad = try place.spool([
      "pipeline", "crashtest", try place.pipeline("pipeline: p\nstages: [eqq]\n"), "x",
    ])
    #expect(bad.exitCode == 2)
    #expect(bad.errorOutput.contains("eqq"))
    let missing = try place.spool(
      [
        "pipeline", "crashtest", try place.quickPipeline(), place.file("none.wav"), "--scratch",
        try scratch(),
      ])
    #expect(missing.exitCode == 2)
    #expect(missing.errorOutput.contains("none.wav"))
    #expect(Workspace.names(in: place.file("scratch")) == [])
    let none = try place.spool(
      ["pipeline", "crashtest", try place.quickPipeline(), place.file("none.wav"), "--kills", "0"])
    #expect(none.exitCode == 2)
    for options in [["--at-every-write", "--kills", "3"], ["--every", "2"]] {
      let both = try place.spool(
        ["pipeline", "crashtest", try place.quickPipeline(), PackageFiles.sample("note-1.m4a")]
          + options)
      #expect(both.exitCode == 2 && both.errorOutput.contains("--at-every-write"), "\(options)")
    }
  }

  @Test("what is read of a short test is right in number, and says which recording would show more")
  func table() throws {
    let run = try place.spool(
      [
        "pipeline", "crashtest", PackageFiles.pipeline("voice-note.yaml"),
        PackageFiles.sample("note-1.m4a"),
        "--kills", "1", "--seed", "3",
      ], environment: ["TMPDIR": try scratch()])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.text.contains("1 kill at random, --seed 3"), "\(run.text)")
    for row in ["loss of time ", "loss of sound "] {
      #expect(run.text.contains(row), "\(run.text)")
    }
    #expect(!run.text.contains("1 kills") && !run.text.contains("0 starts"), "\(run.text)")
    if run.text.contains("no start went on inside a pass") {
      #expect(run.text.contains(/One of about \d+ min would show it/), "\(run.text)")
    }
  }

  // MARK: The command

  private func scratch() throws -> String {
    let path = place.file("scratch")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  /// Runs the command, and expects that it finds nothing wrong and leaves nothing.
  private func crashtest(_ arguments: [String]) throws -> Outcome {
    let run = try place.spool(
      ["pipeline", "crashtest"] + arguments + ["--json"], environment: ["TMPDIR": try scratch()])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.errorOutput == "")
    #expect(Workspace.names(in: place.file("scratch")) == [])
    #expect(Workspace.names(in: place.store) == [], "the user's own store was touched")
    let last = try #require(run.text.split(separator: "\n").last)
    let outcome = try JSONDecoder().decode(Line.self, from: Data(last.utf8)).result
    #expect(outcome.differences.map(\.problem) == [])
    #expect(outcome.identicalOutputs == outcome.outputs)
    return outcome
  }

  private struct Line: Decodable { let result: Outcome }
  private struct Problem: Decodable { let problem: String }
  private struct Outcome: Decodable {
    let kills: Int
    let series: Int
    let checks: Int
    let outputs: Int
    let identicalOutputs: Int
    let operations: Int?
    let differences: [Problem]
  }
}
