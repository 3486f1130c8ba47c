import Foundation
import TestSupport
import Testing

@Suite(
  "Signals end a run or freeze it, and spoil nothing",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct SignalTests {
  private let place: Workspace
  private let note: String
  private let pipeline: String

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 100, rate: 22050, channels: 1)
    pipeline = try place.pipeline(
      """
      pipeline: long
      inputs: { note: sound }
      stages:
        - decode: {}
          timeout: 10 min
        - normalize: { peak: -3 dB }
        - export: [m4a]
          timeout: 10 min
      """)
  }

  private func underWay(_ words: [String]) throws -> RunningSpool {
    let env = try #require(Program(named: "env"))
    let running = try place.start(pipeline, [note], under: env, words)
    try #require(try running.waits(for: "\"progress\""))
    return running
  }

  @Test(
    "each signal has its exit code within two seconds, and resume goes on",
    arguments: [(SIGINT, "INT"), (SIGTERM, "TERM"), (SIGHUP, "HUP")])
  func stops(signal: Int32, name: String) throws {
    let running = try underWay(["--default-signal=\(name)"])
    running.send(signal)
    let (run, seconds) = try running.end()
    #expect(run.exitCode == 128 + signal, "\(run.errorOutput)")
    #expect(seconds < 2.2)
    #expect(run.errorOutput.contains("spool resume"), "\(run.errorOutput)")
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(place.exports == ["note.m4a"])
  }

  @Test("a resumed run is ended by closing the terminal as well")
  func hangUpWhileResuming() throws {
    let first = try underWay(["--default-signal=HUP"])
    first.send(SIGTERM)
    #expect(try first.end().run.exitCode == 128 + SIGTERM)
    let resuming = try place.startResuming()
    try #require(try resuming.waits(for: "\"progress\""))
    resuming.send(SIGHUP)
    #expect(try resuming.end().run.exitCode == 128 + SIGHUP)
    #expect(try place.resume().exitCode == 0)
  }

  @Test("a second SIGINT ends it at once")
  func twice() throws {
    let running = try underWay(["--default-signal=INT"])
    running.send(SIGINT)
    running.send(SIGINT)
    let (run, seconds) = try running.end()
    #expect(run.exitCode == 130)
    #expect(seconds < 1)
    #expect(try place.resume().exitCode == 0)
  }

  @Test(
    "while the encoders finish, when nothing streams any more, nobody waits for them")
  func stopsEncoders() throws {
    // The last minutes of sound are encoded for seconds after the last block was handed over.
    try FileManager.default.removeItem(atPath: note)
    try Reference.record(note, seconds: 120, rate: 96000, channels: 2)
    let env = try #require(Program(named: "env"))
    let running = try place.start(pipeline, [note], under: env, ["--default-signal=INT"])
    try #require(
      try running.waits(for: "\"done\":118.784,\"event\":\"progress\",\"step\":\"export\""))
    running.send(SIGINT)
    let (run, seconds) = try running.end()
    #expect(run.exitCode == 130, "\(run.errorOutput)")
    #expect(seconds < 1.2)
    #expect(place.exports == [])
    #expect(try place.resume().exitCode == 0)
    #expect(place.exports == ["note.m4a"])
  }

  @Test(
    "a stretch of work that cannot be cut short is not waited for",
    .enabled(if: Program(named: "strace") != nil, "the strace program is not installed"))
  func noCleanPoint() throws {
    // A disk that does not answer: the recording is first read with this call.
    let strace = try #require(Program(named: "strace"))
    let env = try #require(Program(named: "env"))
    let running = try place.start(
      pipeline, [note], under: env,
      [
        "--default-signal=TERM", strace.path, "-D", "-f", "-qq", "-o", place.file("strace"), "-P",
        note, "-e", "trace=pread64", "-e", "inject=pread64:delay_enter=60000000",
      ])
    try #require(try running.waits(for: "\"started\""))
    running.send(SIGTERM)
    let (run, seconds) = try running.end()
    #expect(run.exitCode == 128 + SIGTERM, "\(run.errorOutput)")
    #expect(seconds < 2.2)
    #expect(run.errorOutput.contains("spool resume"), "\(run.errorOutput)")
  }

  @Test("whoever starts it with nohup wants it to go on")
  func nohup() throws {
    let running = try underWay(["--ignore-signal=HUP"])
    running.send(SIGHUP)
    #expect(try running.end().run.exitCode == 0)
    #expect(place.exports == ["note.m4a"])
  }

  @Test(
    "the time for which it was frozen counts neither for its timeouts nor as its own",
    .enabled(if: FalseClock.isInstalled, "libfaketime is not installed"))
  func frozen() throws {
    let offset = try place.folder.write("+0\n", to: "offset")
    let running = try underWay(FalseClock.words(offset))
    // All clocks jump, as a process sees them that was stopped.
    try place.folder.write("+3600\n", to: "offset")
    let run = try running.end().run
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let record = try #require(run.record)
    let seconds = try #require(record.finishedAt).seconds - record.startedAt.seconds
    #expect(seconds > 3600, "its clocks did not jump")
    #expect(seconds - (record.activeSeconds ?? seconds) > 3590, "the pause was counted")
  }
}
