import Foundation
import TestSupport
import Testing

/// A new computer, whose store has the originals and no words.
@Suite("The words of a recording that came back are found by the line that is printed")
struct RestoredWordsTests {
  private static let text = "Fellow citizens, the meeting was moved to Monday morning."

  @Test("with the text that came with it")
  func words() throws {
    let place = try Workspace()
    for name in ["disk", "tapes"] {
      try FileManager.default.createDirectory(
        atPath: place.file(name), withIntermediateDirectories: false)
    }
    try place.folder.write(
      "destinations: { nas: { folder: \(place.file("disk")) } }\n", to: "destinations.yaml")
    let destinations = ["--destinations", place.file("destinations.yaml")]
    let speaker = try #require(Program(named: "espeak-ng"))
    let sound = place.file("tapes/Großmutter.wav")
    #expect(try speaker.run(["-v", "en-us", "-w", sound, Self.text]).exitCode == 0)
    try place.folder.write(Self.text, to: "tapes/Großmutter.txt")
    let pipeline = try place.pipeline(
      """
      pipeline: tapes
      inputs: { tape: sound, text: transcript? }
      stages: [{ decode: { from: $tape } }, { export: [flac] }, { deliver: { to: nas } }]
      """)
    let batch = try place.spool(
      ["batch", pipeline, place.file("tapes"), "--out", place.out] + destinations)
    #expect(batch.exitCode == 0, "\(batch.errorOutput)")
    try FileManager.default.removeItem(atPath: place.store)
    try FileManager.default.removeItem(atPath: place.file("tapes"))
    let back = try place.spool(
      ["store", "restore", "--from", "nas", "--out", place.file("back")] + destinations)
    #expect(back.exitCode == 0, "\(back.errorOutput)")
    #expect(try place.spool(["play", "Großmutter.wav", "--json"]).exitCode == 0)
    let shown = try place.spool(["words", "show", "Großmutter.wav"])
    #expect(shown.exitCode == 1, "\(shown.text)")
    let help = try #require(shown.errorOutput.components(separatedBy: "help:  ").last)
    #expect(help.hasPrefix("spool inbox export "), "\(shown.errorOutput)")
    let folder = (try SpoolProgram.program.path as NSString).deletingLastPathComponent
    let run = try #require(Program(named: "bash")).run(
      ["-c", "PATH=\(folder):$PATH; \(help)"], environment: place.environment,
      folder: place.folder.path)
    #expect(run.exitCode == 0, "\(help) \(run.errorOutput)")
    // Aligned to its text, and found under its name, by which it is known from now on.
    let found = try place.spool(["search", "fellow citizens"])
    #expect(found.text.contains("Großmutter.wav"), "\(found.text)\(found.errorOutput)")
    let words = try place.spool(["words", "show", "Großmutter.wav"])
    #expect(
      words.exitCode == 0 && words.errorOutput.contains("9 words of Großmutter.wav"),
      "\(words.errorOutput)")
  }
}
