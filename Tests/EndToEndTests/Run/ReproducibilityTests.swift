import TestSupport
import Testing

@Suite(
  "The same recording gives the same bytes",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ReproducibilityTests {
  @Test("in another store and another folder")
  func otherStore() throws {
    let (first, second) = (try Workspace(), try Workspace())
    for place in [first, second] {
      let run = try place.run(
        PackageFiles.pipeline("voice-note.yaml"), [PackageFiles.sample("note-1.m4a")])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
    }
    #expect(try first.allExports() == second.allExports())
  }

  @Test(
    "on one core and on all",
    .enabled(if: Program(named: "taskset") != nil, "the taskset program is not installed"))
  func oneCore() throws {
    let taskset = try #require(Program(named: "taskset"))
    let (one, all) = (try Workspace(), try Workspace())
    try Reference.record(all.file("note.wav"), seconds: 20, rate: 22050)
    // Long enough for several chunks of every encoder.
    let alone = try one.run(
      try one.quickPipeline(), [all.file("note.wav")], under: taskset, ["-c", "0"])
    try #require(alone.exitCode == 0, "\(alone.errorOutput)")
    let together = try all.run(try all.quickPipeline(), [all.file("note.wav")])
    try #require(together.exitCode == 0, "\(together.errorOutput)")
    #expect(try one.allExports() == all.allExports())
    #expect(one.exports.count == 4)
  }
}
