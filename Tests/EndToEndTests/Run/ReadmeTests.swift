import Foundation
import TestSupport
import Testing

/// README.md is typed in by newcomers, line by line.
@Suite(
  "What README shows runs as printed", .serialized,
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ReadmeTests {
  private let place: Workspace
  private let readme: Readme

  /// A folder as README has it: the sources' pipelines, and recordings under the names in it.
  init() throws {
    place = try Workspace()
    readme = try Readme()
    for (name, target) in [
      ("Pipelines", PackageFiles.pipeline("")), ("note.m4a", PackageFiles.sample("note-1.m4a")),
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: place.file(name), withDestinationPath: target)
    }
    try Reference.record(place.file("episode.wav"), seconds: 4, rate: 48_000)
    for folder in ["trip", "inbox"] {
      try FileManager.default.createDirectory(
        atPath: place.file(folder), withIntermediateDirectories: true)
    }
    try FileManager.default.copyItem(
      atPath: PackageFiles.sample("note-2.m4a"), toPath: place.file("trip/walk.m4a"))
    try readme.sidecar?.write(
      toFile: place.file("trip/walk.json"), atomically: true, encoding: .utf8)
  }

  /// Runs a line in the folder, with the built program in the place of an installed one.
  private func type(_ line: String) throws -> Program.Result {
    let program = URL(fileURLWithPath: try SpoolProgram.program.path).deletingLastPathComponent()
    let path = program.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
    let home = place.file("home")
    // A sound device for those that play, where there is none.
    let sound = try place.folder.write("pcm.default { type null }\n", to: "asound.conf")
    return try #require(Program(named: "bash")).run(
      ["-c", line],
      environment: place.environment.merging(
        ["PATH": path, "HOME": home, "ALSA_CONFIG_PATH": sound]
      ) { $1 },
      folder: place.folder.path)
  }

  @Test("the five commands, in order")
  func commands() throws {
    let block = try #require(readme.blocks("sh").first { $0.contains("spool run ") })
    let lines = block.split(separator: "\n").map(String.init)
    #expect(lines.count == 5 && lines.allSatisfy { $0.hasPrefix("spool ") })
    for line in lines where !line.hasPrefix("spool watch") && !line.hasPrefix("spool resume") {
      let result = try type(line)
      #expect(result.exitCode == 0, "\(line): \(result.text)\(result.errorOutput)")
    }
    // The sidecar beside the recording decided about its loudness.
    let loudness = try Reference.loudness(of: place.file("exports/walk.wav"))
    #expect(abs(loudness.integrated + 18) < 0.3, "\(loudness)")
  }

  @Test("watch takes in what arrives, and resume goes on with what a signal stopped")
  func unattended() throws {
    let block = try #require(readme.blocks("sh").first { $0.contains("spool watch ") })
    let lines = block.split(separator: "\n").map(String.init)
    let watch = try #require(lines.first { $0.hasPrefix("spool watch") })
    let resume = try #require(lines.first { $0.hasPrefix("spool resume") })
    // What arrived before is taken in, too; the exports tell when the watch may be stopped.
    let stopped = try type(
      """
      cp note.m4a inbox/arrived.m4a
      \(watch.prefix { $0 != "#" }) > watch.log 2>&1 &
      for _ in $(seq 600); do [ -e exports/arrived.wav ] && break; sleep 0.1; done
      kill -TERM $!; wait $!; test -e exports/arrived.wav
      """)
    #expect(stopped.exitCode == 0, "\(stopped.text)\(stopped.errorOutput)")
    // A run that was killed is there to be resumed.
    let killed = try type(
      "mkdir held; SPOOL_CRASH_BEFORE=60 spool run voice-note note.m4a --out held || ls held")
    #expect(killed.exitCode == 0, "\(killed.text)\(killed.errorOutput)")
    let resumed = try type(resume)
    #expect(resumed.exitCode == 0, "\(resumed.text)\(resumed.errorOutput)")
    #expect(Workspace.names(in: place.file("held")).contains("note.wav"))
  }

  @Test("the pipeline has no problems, and runs under its own name")
  func pipeline() throws {
    let yaml = try #require(readme.blocks("yaml").first)
    _ = try place.folder.write(yaml + "\n", to: "quick.yaml")
    let check = try type("spool pipeline check quick")
    #expect(check.exitCode == 0, "\(check.errorOutput)")
    #expect(try type("spool run quick note.m4a --set loudness=\"-18 LUFS\"").exitCode == 0)
    let loudness = try Reference.loudness(of: place.file("exports/note.wav"))
    #expect(abs(loudness.integrated + 18) < 0.3, "\(loudness)")
  }

  @Test(
    "every command in the text; those that are named without their arguments explain themselves")
  func inline() throws {
    let espeak = try #require(Program(named: "espeak-ng"))
    let words = "The quick brown fox jumps over the lazy dog, and the dog sleeps on."
    _ = try place.folder.write(words + "\n", to: "animals.txt")
    #expect(try espeak.run(["-v", "en-us", "-w", place.file("animals.wav"), words]).exitCode == 0)
    let aligned = try type("spool run words animals.wav --out captions")
    #expect(aligned.exitCode == 0, "\(aligned.errorOutput)")
    let commands = readme.inlineCommands
    #expect(commands.count > 6)
    for command in commands {
      let result = try type(command)
      if result.errorOutput.contains("missing argument") {
        #expect(try type(command + " --help").exitCode == 0, "\(command)")
      } else {
        #expect(result.exitCode == 0, "\(command): \(result.text)\(result.errorOutput)")
      }
    }
  }
}
