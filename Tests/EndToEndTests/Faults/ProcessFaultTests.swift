import Foundation
import TestSupport
import Testing

/// Real faults under the real program. `SPOOL_LONG_TESTS=1` lets them strike at more points.
@Suite(
  "Neighbours, limits and clocks that misbehave cost no file", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ProcessFaultTests {
  private let fixture: FaultFixture
  private var place: Workspace { fixture.place }

  init() throws { fixture = try FaultFixture() }

  @Test(
    "few open files are enough, or too few are told",
    arguments: LongTests.points([10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 64], each: 2))
  func fewFiles(limit: Int) throws {
    let shell = Program(path: "/bin/sh")
    let run = try fixture.run(under: shell, ["-c", "ulimit -n \(limit) && exec \"$@\"", "sh"])
    try fixture.expectHonesty(of: run, "\(limit) open files")
    try fixture.expectCompletion(after: "\(limit) open files")
  }

  // MARK: Clocks

  @Test(
    "a clock that jumps back an hour changes nothing",
    .enabled(if: FalseClock.isInstalled, "libfaketime is not installed"), arguments: [true, false])
  func clockJumpsBack(isWithinRun: Bool) throws {
    let env = Program(path: "/usr/bin/env")
    let offset = try place.folder.write("+0\n", to: "offset")
    let clock = FalseClock.words(offset, isMonotonicRight: true)
    if isWithinRun {
      let running = try RunningSpool(
        env,
        clock + [
          SpoolProgram.program.path, "run", fixture.pipeline, fixture.recording, "--json", "--out",
          place.out,
        ], environment: place.environment, folder: place.folder.path)
      try #require(try running.waits(for: "\"progress\""))
      try place.folder.write("-3600\n", to: "offset")
      let first = try running.end().run
      #expect(first.exitCode == 0, "\(first.errorOutput)")
      try fixture.expectHonesty(of: first, "a clock that jumped")
    } else {
      let killed = try fixture.start()
      try #require(try killed.waits(for: "\"progress\""))
      killed.send(SIGKILL)
      _ = try killed.end()
      try place.folder.write("-3600\n", to: "offset")
    }
    // Everything that the store knows happened in the future.
    let again = try fixture.run(under: env, clock)
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(place.exports == fixture.expected.keys.sorted())
    try fixture.expectHonesty(of: again, "an hour earlier")
    try fixture.expectCompletion(after: "a clock that jumped")
  }

  // MARK: Neighbours

  @Test("two at once with the same work both end well, with the same bytes")
  func twoAtOnce() throws {
    let runs = try bothEnds()
    for run in runs {
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      try fixture.expectHonesty(of: run, "two at once")
    }
    #expect(place.exports == fixture.expected.keys.sorted(), "temporary files stay")
  }

  @Test("two at once with the same work do it once")
  func onceOnly() throws {
    let runs = try bothEnds()
    let made = runs.flatMap(\.made)
    #expect(Set(made).count == made.count, "done twice: \(made.sorted())")
    #expect(Set(made) == ["decode", "eq", "normalize", "export"])
    // Whichever of them began first, what the other made is not of a lost run.
    for run in runs {
      let why = try place.spool(["why", try #require(run.record?.id)])
      #expect(!why.text.contains("lost"), "\(why.text)")
      #expect(!why.text.contains("first time in this pipeline"), "\(why.text)")
    }
  }

  private func bothEnds() throws -> [SpoolRun] {
    let both = try (0..<2).map { _ in try fixture.start() }
    return try both.map { try $0.end().run }
  }

  @Test("a run that was frozen keeps nobody from the same work, and does no harm when it thaws")
  func frozen() throws {
    let frozen = try fixture.start()
    try #require(try frozen.waits(for: "\"progress\""))
    frozen.send(SIGSTOP)
    // Thawed whatever happens, so that nothing waits for it for ever.
    defer { frozen.send(SIGCONT) }
    let second = try fixture.run()
    #expect(second.exitCode == 0, "\(second.errorOutput)")
    try fixture.expectHonesty(of: second, "beside a frozen run")
    let takeover = try #require(second.events.first { $0.event == "began-anew" })
    #expect(takeover.cause == "taken-over" && takeover.lostSeconds != nil)
    #expect(!second.events.contains { $0.event == "resumed" && $0.steps == takeover.steps })
    frozen.send(SIGCONT)
    let thawed = try frozen.end().run
    try fixture.expectHonesty(of: thawed, "a thawed run")
    #expect(thawed.exitCode == 0, "it did not go on with what the other did: \(thawed.errorOutput)")
    #expect(thawed.warnings.contains { $0.contains("another process took this over") })
    let why = try place.spool(["why", try #require(second.record?.id)])
    let owner = try #require(thawed.record?.id)
    #expect(why.text.contains("taken over from run \(owner) (process "), "\(why.text)")
    #expect(why.text.contains("and begun anew"))
    // The one that began later did what the earlier one reused.
    let taker = try #require(second.record?.id)
    let awake = try place.spool(["why", owner])
    #expect(awake.text.contains("from run \(taker)"), "\(awake.text)")
    #expect(!awake.text.contains("lost"), "\(awake.text)")
    let empty = why.text.split(separator: "\n").filter { $0.hasSuffix(" made") }
    #expect(empty.isEmpty, "\(why.text)")
    try fixture.expectCompletion(after: "a thawed run")
  }
}
