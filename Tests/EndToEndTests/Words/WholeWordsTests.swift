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

  @discardableResult
  private func run(
    _ name: String, mixes: Bool = false, intro: String = "intro", options: [String] = []
  ) throws -> SpoolRun {
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
    let files = ["\(intro).wav", "\(name).wav", "\(name).txt"].map(place.file)
    let run = try place.run(pipeline, files, ["--set", "name=\(name)"] + options)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    return run
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

  @Test("and those of a part alone are neither earlier nor later ones of it")
  func part() throws {
    func runAlone() throws -> SpoolRun {
      let pipeline = try place.folder.write(
        """
        pipeline: alone
        inputs: { talk: sound, text: transcript }
        stages:
          - decode: { from: $talk }
          - align: { transcript: $text }
          - transcript: { formats: [srt], name: alone }
        """, to: "alone.yaml")
      let run = try place.run(pipeline, ["b.wav", "b.txt"].map(place.file))
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      return run
    }
    #expect(try runAlone().warnings == [])
    try run("b")
    #expect(try correct("last", "grey", "green").exitCode == 0)
    #expect(try runAlone().warnings == [], "the whole was corrected")
    let shown = try place.spool(["words", "show", "last"])
    #expect(!shown.errorOutput.contains("another recording"), "\(shown.errorOutput)")
    #expect(try correct("last", "Nobody", "Somebody").exitCode == 0)
    #expect(try run("b").warnings == [], "the part was corrected")
  }

  private func captions() throws -> String {
    try String(contentsOfFile: place.out + "/a.srt", encoding: .utf8)
  }

  /// Types the commands of a notice.
  private func take(_ notice: String) throws {
    let line = try #require(notice.split(separator: "take them over: ").last)
    for command in line.split(separator: "\n")[0].split(separator: " && ") {
      let done = try place.spool(command.split(separator: " ").dropFirst().map(String.init))
      #expect(done.exitCode == 0, "\(done.errorOutput)")
    }
  }

  @Test(
    "where one of the recordings was replaced, the corrections of the whole before are told of",
    arguments: [false, true], ["the talk", "the intro", "the intro, under another name"])
  func replaced(mixes: Bool, part: String) throws {
    try run("a", mixes: mixes)
    #expect(try correct("last", "secret", "hidden").exitCode == 0)
    #expect(try run("a", mixes: mixes).warnings.isEmpty)
    #expect(try captions().contains("hidden"))
    // Another episode is not meant.
    #expect(try run("b", mixes: mixes).warnings.isEmpty)

    let intro = part.contains("another name") ? "jingle" : "intro"
    if part == "the talk" {
      try Reference.ffmpeg(["-i", place.file("a.wav"), "-af", "volume=-2dB", place.file("x.wav")])
      try FileManager.default.removeItem(atPath: place.file("a.wav"))
      try FileManager.default.moveItem(atPath: place.file("x.wav"), toPath: place.file("a.wav"))
    } else {
      try speak("Here is other music.", to: place.file(intro + ".wav"))
    }
    let changed = try run("a", mixes: mixes, intro: intro, options: ["--replace"])
    #expect(try captions().contains("secret"))
    // Of two versions under the same names, the former is told apart.
    let found = try found("garden show").split(separator: "\n").filter { $0.contains("a.wav") }
    let former = found.filter { $0.contains("a.wav (as it was in run ") }
    #expect(found.count == 2 && former.count == (intro == "intro" ? 1 : 0), "\(found)")
    let notice = "\(intro).wav + a.wav is another recording than before, and the corrections"
    let warning = try #require(
      changed.warnings.first { $0.contains(notice) }, "\(changed.warnings)")
    #expect(changed.warnings.count == 1)
    let shown = try place.spool(["words", "show", "last"])
    #expect(shown.errorOutput.contains(warning), "\(shown.errorOutput)")
    try take(warning)
    #expect(try run("a", mixes: mixes, intro: intro).warnings.isEmpty)
    #expect(try captions().contains("hidden"))
    #expect(try !place.spool(["words", "show", "last"]).errorOutput.contains(notice))
  }

  @Test("where the run before had cut words out, those that are heard now stay")
  func uncut() throws {
    func run(cut: Bool) throws -> SpoolRun {
      let pipeline = try place.pipeline(
        """
        pipeline: show
        inputs: { intro: sound, talk: sound, text: transcript }
        stages:
          - concat: { from: [$intro, $talk] }
          - align: { transcript: $text }
          - cut: { remove: [{ from: 1.4 s, to: \(cut ? 3 : 1.41) s }] }
            from: concat
          - retime: { changes: cut, from: align }
          - transcript: { formats: [srt], name: a }
        """)
      let files = ["intro.wav", "a.wav", "a.txt"].map(place.file)
      let run = try place.run(pipeline, files, ["--replace"])
      try #require(run.exitCode == 0, "\(run.errorOutput)")
      return run
    }
    _ = try run(cut: true)
    #expect(try !captions().contains("garden"))
    #expect(try correct("last", "secret", "hidden").exitCode == 0)
    try Reference.ffmpeg(["-i", place.file("a.wav"), "-af", "volume=-2dB", place.file("x.wav")])
    try FileManager.default.removeItem(atPath: place.file("a.wav"))
    try FileManager.default.moveItem(atPath: place.file("x.wav"), toPath: place.file("a.wav"))
    let whole = try run(cut: false)
    try take(try #require(whole.warnings.first { $0.contains("take them over") }))
    #expect(try run(cut: false).warnings.isEmpty)
    let text = try captions()
    #expect(text.contains("hidden") && text.contains("garden"), "\(text)")
  }

  @Test("also in the run after the sound was collected", arguments: [false, true])
  func collected(mixes: Bool) throws {
    try run("a", mixes: mixes)
    #expect(try correct("last", "secret", "hidden").exitCode == 0)
    try run("a", mixes: mixes)
    #expect(try place.spool(["store", "gc", "--older-than", "0s", "--grace", "0s"]).exitCode == 0)
    #expect(try run("a", mixes: mixes).warnings.isEmpty)
    #expect(try captions().contains("hidden"))
  }

  @Test("where two pipelines make wholes of the same recordings, those of the same one come first")
  func otherPipeline() throws {
    try speak("Here is other music.", to: place.file("jingle.wav"))
    let other = try place.folder.write(
      """
      pipeline: other
      inputs: { intro: sound, talk: sound, text: transcript }
      stages:
        - decode: { from: $intro }
          id: bed
        - gain: -60 dB
        - mixdown: { from: [gain, $talk] }
        - align: { transcript: $text }
        - transcript: { formats: [srt], name: other }
      """, to: "other.yaml")
    func runOther(_ intro: String) throws {
      let files = [intro + ".wav", "a.wav", "a.txt"].map(place.file)
      #expect(try place.run(other, files, ["--replace"]).exitCode == 0)
    }
    try runOther("intro")
    #expect(try correct("last", "garden", "flower").exitCode == 0)
    try runOther("jingle")
    try run("a")
    #expect(try correct("last", "secret", "hidden").exitCode == 0)
    let changed = try run("a", intro: "jingle", options: ["--replace"])
    try take(try #require(changed.warnings.first, "\(changed.warnings)"))
    try run("a", intro: "jingle")
    #expect(try captions().contains("hidden"))
  }

  @Test("where an intro is put in front or taken away, the corrections before are told of, too")
  func introduced() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound?, talk: sound, text: transcript }
      stages:
        - decode: { from: $talk }
        - concat: { from: [$intro, decode] }
          when: $intro
        - align: { transcript: $text }
        - transcript: { formats: [srt], name: a }
      """)
    let talk = ["talk=a.wav", "text=a.txt"]
    func run(_ inputs: [String]) throws -> SpoolRun {
      let run = try place.run(pipeline, inputs, ["--replace"])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      return run
    }
    _ = try run(talk)
    #expect(try correct("last", "secret", "hidden").exitCode == 0)
    #expect(try run(talk).warnings.isEmpty)
    #expect(try captions().contains("hidden"))
    let longer = try run(["intro=intro.wav"] + talk)
    let warning = try #require(
      longer.warnings.first { $0.contains("the corrections of its words before do not count") },
      "\(longer.warnings)")
    try take(warning)
    #expect(try run(["intro=intro.wav"] + talk).warnings.isEmpty)
    #expect(try captions().contains("hidden"))
    // Words of what is left out would come back.
    #expect(try correct("last", "garden", "meadow").exitCode == 0)
    try Reference.ffmpeg(["-i", place.file("a.wav"), "-af", "volume=-2dB", place.file("x.wav")])
    try FileManager.default.removeItem(atPath: place.file("a.wav"))
    try FileManager.default.moveItem(atPath: place.file("x.wav"), toPath: place.file("a.wav"))
    let shorter = try run(talk)
    #expect(
      shorter.warnings.contains { $0.contains("a.corrected.srt what only intro.wav says") },
      "\(shorter.warnings)")
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

  @Test("of two wholes in one run, each keeps its corrections by its own step")
  func twoWholes() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: two
      inputs: { intro: sound, talk: sound, text: transcript }
      stages:
        - concat: { from: [$intro, $talk] }
          id: show
        - concat: { from: [$talk, $intro] }
          id: feed
        - align: { transcript: $text, from: show }
          id: words
        - transcript: { from: words, formats: [srt], name: show }
        - align: { transcript: $text, from: feed }
          id: others
        - transcript: { from: others, formats: [srt], name: feed }
          id: captions
      """)
    let files = ["intro.wav", "a.wav", "a.txt"].map(place.file)
    let old = try place.run(pipeline, files)
    let first = try #require(old.record).id
    try #require(old.exitCode == 0, "\(old.errorOutput)")
    for (step, name) in [("words", "hidden"), ("others", "covert")] {
      let export = try place.spool(["words", "export", first, step]).text
      let edited = try place.folder.write(
        export.replacing("secret", with: name), to: "edited.srt")
      #expect(
        try place.spool(["words", "edit", first, step, "--from", edited]).text
          .contains(": 1 place"))
    }
    let program = try #require(Program(named: "espeak-ng"))
    let slower = ["-s", "150", "-v", "en-us+m3", "-w", place.file("a.wav"), Self.texts["a"] ?? ""]
    #expect(try program.run(slower).exitCode == 0)
    let new = try place.run(pipeline, files, ["--replace"])
    let second = try #require(new.record).id
    try #require(new.exitCode == 0, "\(new.errorOutput)")
    for step in ["words", "others"] {
      let line = new.warnings.first { $0.contains("spool words export \(first) \(step) -o ") }
      #expect(
        line?.contains("spool words edit \(second) \(step) --from ") == true, "\(new.warnings)")
    }
  }
}
