import Foundation
import TestSupport
import Testing

@Suite("Words of a sound that was made of several recordings belong to that whole")
struct WholeWordsTests {
  private static let texts = [
    "a": "Welcome to the garden show. Today we talk about the secret passage.",
    "b": "Welcome to the garden show. Nobody saw the old grey car in the street.",
  ]

  private let place: Workspace

  init() throws {
    place = try Workspace()
    try speak("Here is some music.", to: place.file("intro.wav"))
    for (name, text) in Self.texts {
      try speak(text, to: place.file(name + ".wav"))
      try place.folder.write(text, to: name + ".txt")
    }
  }

  private func speak(_ text: String, to path: String) throws {
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", path, text]).exitCode == 0)
  }

  private func run(_ name: String, mixes: Bool = false) throws {
    let source =
      mixes ? "decode: { from: $intro }\n  - gain: -60 dB\n    id: bed\n  - mixdown" : "concat"
    let pipeline = try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound, talk: sound, text: transcript }
      vars: { name: { value: x } }
      stages:
        - \(source): { from: [\(mixes ? "bed" : "$intro"), $talk] }
        - align: { transcript: $text }
        - transcript: { formats: [srt], name: $name }
      """)
    let files = ["intro.wav", "\(name).wav", "\(name).txt"].map(place.file)
    let run = try place.run(pipeline, files, ["--set", "name=\(name)"])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
  }

  private func found(_ words: String) throws -> String {
    try place.spool(["search", words]).text
  }

  private func correct(_ name: String, _ old: String, _ new: String) throws -> Program.Result {
    let export = try place.spool(["words", "export", name])
    #expect(export.exitCode == 0, "\(export.errorOutput)")
    let edited = try place.folder.write(
      export.text.replacing(old, with: new), to: "edited.srt")
    return try place.spool(["words", "edit", name, "--from", edited])
  }

  @Test("with the first recording in common", arguments: [false, true])
  func sharedIntro(mixes: Bool) throws {
    try run("a", mixes: mixes)
    #expect(try found("secret passage").contains("intro.wav + a.wav"))
    try run("b", mixes: mixes)
    #expect(try found("secret passage").contains("intro.wav + a.wav"))
    #expect(try found("grey car").contains("intro.wav + b.wav"))
    // What is corrected in one is not in the other.
    let edit = try correct("last", "grey", "green")
    #expect(edit.exitCode == 0 && edit.text.contains("corrected intro.wav + b.wav"), "\(edit)")
    #expect(try found("green car").contains("b.wav") && found("grey car").isEmpty)
    #expect(try found("garden show").split(separator: "\n").count == 2)
    let other = try place.spool(["words", "show", "a.wav"])
    #expect(other.exitCode == 0 && other.text.contains("passage"), "\(other.errorOutput)")
    #expect(other.errorOutput.contains("of intro.wav + a.wav"), "\(other.errorOutput)")
    #expect(!other.errorOutput.contains("not applied"), "\(other.errorOutput)")
    #expect(try place.spool(["words", "export", "b.wav"]).text.contains("green"))
    // Their common recording does not say which is meant.
    let both = try place.spool(["words", "show", "intro.wav"])
    #expect(both.exitCode == 2)
    let complaint = try #require(Complaint(both.errorOutput), "\(both.errorOutput)")
    #expect(complaint.why.contains("intro.wav + a.wav of run "), "\(complaint)")
    #expect(complaint.why.contains("intro.wav + b.wav of run "), "\(complaint)")
    let undone = try place.spool(["words", "undo", "b.wav"])
    #expect(undone.exitCode == 0, "\(undone.errorOutput)")
    #expect(try found("grey car").contains("b.wav"))
  }

  @Test("and are cut out of sound that is computed again once it was freed")
  func clip() throws {
    try run("a")
    let clip = place.file("clip.wav")
    let arguments = ["search", "secret passage", "--replace", "--clip", clip]
    #expect(try place.spool(arguments).exitCode == 0)
    let before = try Data(contentsOf: URL(filePath: clip))
    #expect(try place.spool(["store", "gc", "--sound", "--grace", "0s"]).exitCode == 0)
    let again = try place.spool(arguments)
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(again.errorOutput.contains("computed again"), "\(again.errorOutput)")
    #expect(try Data(contentsOf: URL(filePath: clip)) == before)
    // Other content under a recording's name is no way to it.
    #expect(try place.spool(["store", "gc", "--sound", "--grace", "0s"]).exitCode == 0)
    try speak("Another jingle.", to: place.file("intro.wav"))
    let changed = try place.spool(arguments)
    #expect(changed.exitCode == 1)
    #expect(changed.errorOutput.contains("intro.wav is not the recording of run"), "\(changed)")
    #expect(!changed.errorOutput.contains("next:"), "\(changed.errorOutput)")
  }

  @Test("a sound that has none is no text")
  func wordless() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: beside
      inputs: { talk: sound, music: sound, text: transcript }
      stages:
        - decode: { from: $music }
        - export: { formats: [flac] }
        - decode: { from: $talk }
          id: speech
        - align: { transcript: $text }
        - transcript: { formats: [srt] }
      """)
    let files = ["a.wav", "intro.wav", "a.txt"].map(place.file)
    let run = try place.run(pipeline, files)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let shown = try place.spool(["words", "show", "intro.wav"])
    #expect(shown.exitCode == 1, "\(shown)")
    #expect(shown.errorOutput.contains("there are no words of intro.wav"), "\(shown.errorOutput)")
    #expect(!shown.errorOutput.contains("text of"), "\(shown.errorOutput)")
    #expect(try place.spool(["words", "show", "a.txt"]).errorOutput.contains("is a text of"))
  }
}
