import Foundation
import TestSupport
import Testing

@Suite(
  "A quick mix has the tags and the cover of its first recording",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct QuickMixTests {
  private let place: Workspace

  init() throws {
    place = try Workspace()
    try Reference.record(
      place.file("plain.flac"), seconds: 1,
      coding: ["-metadata", "title=Anna talks", "-metadata", "artist=Anna"])
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "color=red:s=64x48", "-frames:v", "1", place.file("cover.png"),
    ])
    try Reference.ffmpeg([
      "-i", place.file("plain.flac"), "-i", place.file("cover.png"), "-map", "0:a", "-map", "1:v",
      "-c", "copy", "-disposition:v", "attached_pic", place.file("talk.flac"),
    ])
    try Reference.record(
      place.file("theme.flac"), seconds: 2,
      coding: ["-metadata", "title=Theme", "-metadata", "artist=Band"])
  }

  @discardableResult
  private func mix(_ words: [String], to name: String) throws -> SoundFacts {
    let result = try place.spool(["mix"] + words + ["-o", name])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(!result.errorOutput.contains("warning"), "\(result.errorOutput)")
    return try SoundFacts(of: place.file(name))
  }

  @Test("whatever the others have", arguments: ["theme.flac", "bare.wav"])
  func first(other: String) throws {
    try Reference.record(place.file("bare.wav"), seconds: 2, coding: [])
    let facts = try mix(["talk.flac", "\(other):-12dB"], to: "a.mp3")
    #expect(facts.tags["title"] == "Anna talks" && facts.tags["artist"] == "Anna")
    #expect(facts.hasPicture)
    let bare = try mix(["bare.wav", "talk.flac"], to: "b.mp3")
    #expect(bare.tags["title"] == nil && !bare.hasPicture)
  }

  @Test("unless options state others, which leave the rest")
  func stated() throws {
    let facts = try mix(["talk.flac", "theme.flac", "--title", "Show 1"], to: "a.mp3")
    #expect(facts.tags["title"] == "Show 1" && facts.tags["artist"] == "Anna")
    #expect(facts.hasPicture)
  }

  @Test("as the pipeline does that --show prints")
  func shown() throws {
    let words = ["mix", "talk.flac", "theme.flac", "plain.flac", "-o", "a.mp3"]
    let quick = try place.spool(words)
    #expect(quick.exitCode == 0, "\(quick.errorOutput)")
    let shown = try place.spool(words + ["--show"]).text
    #expect(shown.contains("recording: $first"), "\(shown)")
    let run = try place.run(
      try place.pipeline(shown), ["talk.flac", "theme.flac", "plain.flac"].map(place.file))
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try place.export("a.mp3") == Data(contentsOf: URL(filePath: place.file("a.mp3"))))
  }

  @Test("and its warnings speak of options")
  func warnings() throws {
    for name in ["talk", "theme"] {
      try place.folder.write(#"{ "title": "From \#(name)" }"#, to: name + ".json")
    }
    let result = try place.spool(["mix", "talk.flac", "theme.flac", "-o", "a.mp3"])
    #expect(try SoundFacts(of: place.file("a.mp3")).tags["title"] == "Anna talks")
    #expect(result.errorOutput.contains("sidecar of theme.flac"), "\(result.errorOutput)")
    #expect(result.errorOutput.contains("--title"), "\(result.errorOutput)")
    #expect(!result.errorOutput.contains("recording:"), "\(result.errorOutput)")
  }
}
