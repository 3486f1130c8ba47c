import Foundation
import TestSupport
import Testing

/// The commands that show, play and explain a recording or a run by its name.
@Suite("words, play, runs show and why take every name that is printed of a recording")
struct RecordingNameTests {
  private static let text = "The meeting was moved to Monday morning."
  private static let commands = [["words", "show"], ["play"], ["runs", "show"], ["why"]]

  private func speak(_ path: String, pitch: Int = 50) throws {
    let program = try #require(Program(named: "espeak-ng"))
    let made = try program.run(["-v", "en-us", "-p", "\(pitch)", "-w", path, Self.text])
    #expect(made.exitCode == 0)
  }

  private func expect(_ names: [String], areKnownIn place: Workspace) throws {
    for words in Self.commands {
      for name in names {
        let result = try place.spool(words + [name, "--json"])
        #expect(result.exitCode == 0, "\(words) \(name): \(result.errorOutput)")
        #expect(!result.text.isEmpty)
      }
    }
  }

  @Test("a run's by itself, its file and its file's name, where that is and where it was")
  func runs() throws {
    let place = try Workspace()
    for name in ["somewhere", "elsewhere"] {
      try FileManager.default.createDirectory(
        atPath: place.file(name), withIntermediateDirectories: false)
    }
    let sound = place.file("somewhere/walk.wav")
    try speak(sound)
    let text = try place.folder.write(Self.text, to: "said.txt")
    let pipeline = PackageFiles.pipeline("words.yaml")
    #expect(try place.run(pipeline, [sound, text]).exitCode == 0)
    let run = String(try #require(try place.spool(["runs"]).text.split(separator: " ").first))
    try expect(
      ["last", run, String(run.dropLast(2)), "walk.wav", sound, "somewhere/walk.wav"],
      areKnownIn: place)
    let shown = try place.spool(["runs", "show", "walk.wav"]).text
    #expect(shown.contains(run), "\(shown)")
    try FileManager.default.moveItem(atPath: sound, toPath: place.file("moved.wav"))
    try expect(["walk.wav", sound, place.file("moved.wav")], areKnownIn: place)
    #expect(try place.spool(["play", "walk.wav:decode", "--json"]).exitCode == 0)
    let other = place.file("elsewhere/walk.wav")
    try speak(other, pitch: 70)
    #expect(try place.run(pipeline, [other, text], ["--out", place.file("o")]).exitCode == 0)
    for words in Self.commands {
      let several = try place.spool(words + ["walk.wav"])
      #expect(several.exitCode == 2, "\(words)")
      #expect(
        several.errorOutput.contains(other) && several.errorOutput.contains(sound),
        "\(several.errorOutput)")
      let unknown = try place.spool(words + ["nothing"])
      #expect(unknown.exitCode == 2)
      #expect(
        unknown.errorOutput.contains("there is no run and no recording \"nothing\""),
        "\(unknown.errorOutput)")
      #expect(try place.spool(words + ["none.wav"]).exitCode == 2)
    }
  }

  @Test("a failed run's by its file, too")
  func failed() throws {
    let place = try Workspace()
    let sound = place.file("talk.wav")
    try speak(sound)
    let pipeline = try place.pipeline(
      "pipeline: strict\nstages: [ decode, { assert: { loudness: -70 LUFS ± 0.5 } } ]\n")
    #expect(try place.run(pipeline, [sound]).exitCode == 1)
    for words in [["runs", "show"], ["why"]] {
      let shown = try place.spool(words + [sound])
      #expect(shown.exitCode == 0 && shown.text.contains("failed"), "\(shown.errorOutput)")
    }
  }

  @Test("one of an inbox by its ID, its noteId, its file's name and its path there")
  func recordings() throws {
    let inbox = try WatchedPlace()
    _ = try inbox.place.pipeline(
      """
      pipeline: words
      inputs: { note: sound, text: transcript? }
      stages:
        - decode: { from: $note }
        - export: { formats: [flac] }
        - align: { transcript: $text, from: decode }
      """)
    try speak(inbox.place.file("made/walk.wav"))
    let watch = try inbox.watch([])
    let id = "7f3c2a10-0000-4bbb-8ccc-000000000001"
    try inbox.shell(
      #"mkdir inbox/d; echo '{"noteId":"\#(id)"}' > inbox/d/walk.json; "#
        + "echo '\(Self.text)' > inbox/d/walk.txt; cp made/walk.wav inbox/d")
    #expect(inbox.wait { watch.news.contains { $0.event == "uploaded" } }, "\(watch.output)")
    watch.send(SIGTERM)
    #expect(watch.end() == 0)
    let key = try #require(try inbox.notes().first?.key)
    try expect(
      [key, String(key.prefix(6)), id, "walk.wav", "d/walk.wav", "last"], areKnownIn: inbox.place)
    // A run takes files, and the line that it prints brings this one.
    let run = try inbox.place.spool(["run", "words", key])
    #expect(run.exitCode == 2)
    #expect(
      run.errorOutput.contains(
        "spool inbox export \(key) --to originals && spool run words originals/walk.wav"),
      "\(run.errorOutput)")
  }
}
