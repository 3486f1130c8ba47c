import Foundation
import TestSupport
import Testing

/// The first commands of articles, in a folder with recordings under the names in them.
@Suite(
  "What the guide shows runs as printed",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct GuideTests {
  private let place: Workspace

  init() throws {
    place = try Workspace()
    for (name, target) in [
      ("Pipelines", PackageFiles.pipeline("")), ("samples", PackageFiles.sample("")),
    ] {
      try FileManager.default.createSymbolicLink(
        atPath: place.file(name), withDestinationPath: target)
    }
  }

  /// Types every line of the blocks of an article that hold a word, in order.
  private func type(_ article: String, blocksWith word: String, editor: String = "true") throws {
    let program = URL(fileURLWithPath: try SpoolProgram.program.path).deletingLastPathComponent()
    let path = program.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
    let bash = try #require(Program(named: "bash"))
    let lines = try Readme(article: article).blocks("sh").filter { $0.contains(word) }.flatMap {
      $0.split(separator: "\n").map(String.init)
    }
    #expect(!lines.isEmpty)
    for line in lines {
      let result = try bash.run(
        ["-c", line],
        environment: place.environment.merging(["PATH": path, "EDITOR": editor]) { $1 },
        folder: place.folder.path)
      #expect(result.exitCode == 0, "\(line): \(result.text)\(result.errorOutput)")
    }
  }

  private func speak(_ names: String...) throws {
    let words = "The quick brown fox jumps over the lazy dog, and the dog sleeps on."
    let espeak = try #require(Program(named: "espeak-ng"))
    // Each is another recording.
    for (number, name) in names.enumerated() {
      let pitch = "\(40 + 5 * number)"
      let path = place.file(name + ".wav")
      #expect(try espeak.run(["-v", "en-us", "-p", pitch, "-w", path, words]).exitCode == 0)
    }
    for name in ["interview", "talk"] {
      _ = try place.folder.write(words + "\n", to: name + ".txt")
    }
  }

  @Test("Mixing: a session that names its files, and one whose files are named")
  func mixing() throws {
    for name in ["base", "voice", "pad"] {
      try Reference.record(place.file(name + ".wav"), seconds: 2)
    }
    _ = try place.folder.write(
      "channels: [{}, { role: voice }, { role: music }]\n", to: "song.json")
    try type("Mixing", blocksWith: "session-mix")
  }

  @Test("Transcripts and captions: finding words, and correcting them")
  func words() throws {
    try speak("interview", "meeting", "talk")
    try type("Words", blocksWith: "words.yaml")
    #expect(try place.run("words", [place.file("talk.wav")]).exitCode == 0)
    // What its reader has edited.
    try FileManager.default.copyItem(
      atPath: place.out + "/talk.srt", toPath: place.file("talk.srt"))
    let captions = try String(contentsOfFile: place.file("talk.srt"), encoding: .utf8)
    #expect(captions.contains("lazy"))
    _ = try place.folder.write(
      captions.replacingOccurrences(of: "lazy", with: "hazy"), to: "talk.srt")
    try type("Words", blocksWith: "words edit")
  }

  @Test("Proof: a receipt of a long tape, checked in two ways, and a quote from it")
  func proof() throws {
    try Reference.ffmpeg([
      "-f", "lavfi", "-i", "aevalsrc='0.2*sin(2*PI*300*t)*(0.6+0.4*sin(5*t))':s=4000:d=760",
      place.file("tape-07.wav"),
    ])
    try type("Proof", blocksWith: "archive.yaml")
  }
}
