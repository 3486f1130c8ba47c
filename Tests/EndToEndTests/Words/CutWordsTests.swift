import Foundation
import TestSupport
import Testing

@Suite("Words and corrections belong to the recording, cut or not, in whatever file it is")
struct CutWordsTests {
  private static let text = """
    Please call me back on Monday morning. The meeting with the client was moved. The quick brown \
    fox jumps over the lazy dog.
    """
  private static let other = """
    It is seven minutes past ten on a cold winter evening. Nobody saw the old grey car that stood \
    in front of the house.
    """

  private let place: Workspace
  private let sound: String
  private let text: String
  private let cutting: String

  init() throws {
    place = try Workspace()
    // The text's name comes before the sound's, and its input's name too.
    sound = place.file("talk.wav")
    text = try place.folder.write(Self.text, to: "a-text.txt")
    cutting = try place.pipeline(
      """
      pipeline: cutting
      inputs: { tape: sound, atext: transcript }
      stages:
        - decode: { from: $tape }
        - align: { transcript: $atext }
        - cut: { remove: [{ from: 0 s, to: 2.1 s }] }
          from: decode
        - export: { formats: [wav], name: "{stem}-cut" }
        - retime: { changes: [cut] }
          from: align
        - transcript: { formats: [srt], name: "{stem}-cut" }
      """)
    try speak(Self.text, to: sound)
  }

  private func speak(_ text: String, to path: String) throws {
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", path, text]).exitCode == 0)
  }

  private func run(_ pipeline: String, _ files: String...) throws {
    let run = try place.run(pipeline, files)
    try #require(run.exitCode == 0, "\(run.errorOutput)")
  }

  private func words(_ name: String...) throws -> [String] {
    struct Word: Decodable { let text: String }
    let shown = try place.spool(["words", "show"] + name + ["--json"])
    #expect(shown.exitCode == 0, "\(shown.errorOutput)")
    return try shown.text.split(separator: "\n").map {
      try JSONDecoder().decode(Word.self, from: Data($0.utf8)).text
    }
  }

  /// When the first of the words begins, in seconds.
  private func start(_ name: String...) throws -> Double {
    struct Word: Decodable { let startTime: Double }
    let shown = try place.spool(["words", "show"] + name + ["--json"])
    let line = shown.text.prefix { $0 != "\n" }
    return try JSONDecoder().decode(Word.self, from: Data(line.utf8)).startTime
  }

  private func isFound(_ word: String) throws -> Bool {
    try place.spool(["search", word]).exitCode == 0
  }

  /// Takes in the exported words of a recording with others.
  private func edit(
    _ name: String, _ format: String = "srt", _ options: [String] = [],
    _ change: (String) -> String
  ) throws -> Program.Result {
    let path = place.file("edited.\(format)")
    let export = try place.spool(["words", "export", name, "-o", path, "--replace"])
    #expect(export.exitCode == 0, "\(export.errorOutput)")
    let before = try String(contentsOfFile: path, encoding: .utf8)
    try change(before).write(toFile: path, atomically: true, encoding: .utf8)
    return try place.spool(["words", "edit", name, "--from", path] + options)
  }

  private var all: [String] { Self.text.split(whereSeparator: \.isWhitespace).map(String.init) }
  private var left: [String] { Array(all.drop { $0 != "The" }) }

  @Test("every command names the sound, whose words the run has cut, and never the text")
  func names() throws {
    try run(cutting, sound, text)
    let captions = try String(contentsOfFile: place.out + "/talk-cut.srt", encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    for _ in 1...12 {
      let shown = try place.spool(["words", "show", "last"])
      #expect(shown.errorOutput.contains("\(left.count) words of talk.wav"), "\(shown.errorOutput)")
      let export = try place.spool(["words", "export", "last"])
      #expect(export.text.trimmingCharacters(in: .newlines) == captions)
      let search = try place.spool(["search", "fox", "--json"])
      #expect(search.text.contains("\"recording\":\"\(sound)\""), "\(search.text)")
    }
    #expect(try words("last") == left && words(sound) == all)
    #expect(try words("last", "align") == all && words("last:retime") == left)
    let stage = try place.spool(["words", "show", "last", "cut"])
    #expect(stage.exitCode == 2)
    #expect(stage.errorOutput.contains("align, retime"), "\(stage.errorOutput)")
    for action in ["show", "export", "edit", "undo"] {
      let refused = try place.spool(["words", action, text])
      #expect(refused.exitCode == 2 && refused.errorOutput.contains("is no recording"))
      #expect(refused.errorOutput.contains(sound) && !refused.errorOutput.contains("spool run"))
    }
    let clip = place.file("fox.wav")
    #expect(try place.spool(["search", "Monday", "--clip", clip]).exitCode == 0)
  }

  @Test("words that a cut of nothing has left where they were are the recording's as any others")
  func unmoved() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: whole
      inputs: { tape: sound, atext: transcript }
      stages:
        - decode: { from: $tape }
        - align: { transcript: $atext }
        - trim: { start: 0 s }
          from: decode
        - export: { formats: [wav], name: "{stem}-whole" }
        - retime: { changes: [trim] }
          from: align
      """)
    try run(pipeline, sound, text)
    #expect(try words("last") == all && words(sound) == all)
    #expect(try words("last", "align") == all && words("last", "retime") == all)
    #expect(try isFound("fox"))
    let edit = try edit(sound) { $0.replacing("lazy", with: "sleepy") }
    #expect(edit.exitCode == 0, "\(edit.errorOutput)")
    #expect(try isFound("sleepy") && !isFound("lazy"))
    let undo = try place.spool(["words", "undo", "last"])
    #expect(undo.exitCode == 0, "\(undo.errorOutput)")
    #expect(try isFound("lazy") && words("last") == all)
  }

  @Test("words behind an intro are those of the recording, at its times, and can be cut from it")
  func joined() throws {
    let intro = place.file("intro.wav")
    try speak("This is the morning show.", to: intro)
    let show = try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound, talk: sound, text: transcript }
      stages:
        - decode: { from: $talk }
        - align: { transcript: $text }
        - concat: { from: [$intro, decode] }
        - export: { formats: [wav], recording: $talk }
        - retime: { changes: concat, part: 2, from: align }
        - transcript: { formats: [srt] }
      """)
    try run(show, intro, sound, text)
    let heard = try start("last", "align")
    #expect(try start(sound) == heard)
    #expect(try start("last", "retime") > heard + 1)
    let clip = place.file("fox.wav")
    let made = try place.spool(["search", "fox", "--clip", clip, "--json"])
    #expect(made.exitCode == 0, "\(made.errorOutput)")
    #expect(FileManager.default.fileExists(atPath: clip))
  }

  @Test(
    "an edit of what is left is a correction of the recording, and deletes nothing that was cut")
  func edits() throws {
    try run(cutting, sound, text)
    try run(PackageFiles.pipeline("words.yaml"), sound, text)
    let second = place.file("other.wav")
    let secondText = try place.folder.write(Self.other, to: "a-other.txt")
    try speak(Self.other, to: second)
    try run(cutting, second, secondText)
    let untouched = try words(second)
    try run(cutting, sound, text)
    let edit = try edit("last", "txt") {
      "Indeed "
        + $0.replacingOccurrences(of: "lazy", with: "sleepy")
        .replacingOccurrences(of: "with the client ", with: "")
    }
    #expect(edit.exitCode == 0, "\(edit.errorOutput)")
    #expect(edit.text.contains("corrected talk.wav: 3 places, 3 words deleted"), "\(edit.text)")
    func corrected(_ words: [String]) -> [String] {
      words.joined(separator: " ").replacingOccurrences(of: "lazy", with: "sleepy")
        .replacingOccurrences(of: "with the client ", with: "")
        .replacingOccurrences(of: "The meeting", with: "Indeed The meeting")
        .split(separator: " ").map(String.init)
    }
    #expect(try words("last") == corrected(left))
    #expect(try words(sound) == corrected(all))
    #expect(try isFound("sleepy") && isFound("Monday") && !isFound("lazy"))
    #expect(try words(second) == untouched)
    // The captions that the run has written are not those of the whole recording.
    let captions = try place.folder.write(
      String(contentsOfFile: place.out + "/talk-cut.srt", encoding: .utf8)
        .replacingOccurrences(of: "quick", with: "swift"), to: "cut.srt")
    let again = try place.spool(["words", "edit", sound, "--from", captions])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(try words(sound).prefix(7) == all.prefix(7) && isFound("swift"))
    for _ in 1...2 { #expect(try place.spool(["words", "undo", "last"]).exitCode == 0) }
    #expect(try words(sound) == all && words("last") == left && isFound("lazy"))
  }

  @Test("corrections stay where the recording has other tags, or is in another container")
  func retagged() throws {
    let pipeline = PackageFiles.pipeline("words.yaml")
    try run(pipeline, sound, text)
    #expect(
      try edit(sound) { $0.replacingOccurrences(of: "lazy", with: "sleepy") }.exitCode == 0)
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let tagged = place.file("tagged.wav")
    let flac = place.file("talk.flac")
    #expect(
      try ffmpeg.run([
        "-v", "error", "-i", sound, "-c", "copy", "-metadata", "title=A talk", tagged,
      ]).exitCode == 0)
    #expect(try ffmpeg.run(["-v", "error", "-i", sound, flac]).exitCode == 0)
    try FileManager.default.removeItem(atPath: sound)
    try FileManager.default.moveItem(atPath: tagged, toPath: sound)
    try run(pipeline, sound, text)
    let other = try place.spool(["run", pipeline, flac, text, "--out", place.file("others")])
    #expect(other.exitCode == 0, "\(other.errorOutput)")
    for file in [sound, flac] {
      #expect(try words(file).contains("sleepy") && !words(file).contains("lazy"))
    }
    #expect(try isFound("sleepy") && !isFound("lazy"))
    let hits = try place.spool(["search", "sleepy", "--json"]).text.split(separator: "\n")
    #expect(hits.count == 1, "\(hits)")
    let clip = place.file("sleepy.wav")
    #expect(try place.spool(["search", "sleepy", "--clip", clip]).exitCode == 0)
    #expect(
      try edit(flac) { $0.replacingOccurrences(of: "brown", with: "red") }.exitCode == 0)
    #expect(try words(sound).contains("red"))
    for file in [sound, flac] {
      #expect(try place.spool(["words", "undo", file]).exitCode == 0)
    }
    #expect(try words(flac) == all && isFound("lazy") && !isFound("sleepy"))
  }

  @Test("of the same bytes under two names, the one is named that is there")
  func twins() throws {
    let pipeline = PackageFiles.pipeline("words.yaml")
    let twin = place.file("twin.wav")
    try FileManager.default.copyItem(atPath: sound, toPath: twin)
    try run(pipeline, sound, text)
    try run(pipeline, twin, text)
    try FileManager.default.removeItem(atPath: twin)
    func check() throws {
      let search = try place.spool(["search", "fox", "--json"])
      #expect(search.text.contains("\"recording\":\"\(sound)\""), "\(search.text)")
      let shown = try place.spool(["words", "show", "last"])
      #expect(shown.errorOutput.contains("words of talk.wav"), "\(shown.errorOutput)")
      let clip = try place.spool(
        ["search", "fox", "--clip", place.file("fox.wav"), "--replace"])
      #expect(clip.exitCode == 0 && clip.text.contains("of \(sound)"), "\(clip.errorOutput)")
    }
    try check()
    try speak(Self.other, to: twin)
    try check()
  }

  @Test("a text that ends early deletes nothing unless that was meant")
  func shortened() throws {
    try run(PackageFiles.pipeline("words.yaml"), sound, text)
    let first = Self.text.split(separator: ".")[0] + "."
    let refused = try edit(sound, "txt") { _ in String(first) }
    #expect(refused.exitCode == 2)
    #expect(
      refused.errorOutput.contains("would delete 16 of the 23 words of talk.wav")
        && refused.errorOutput.contains("--yes"), "\(refused.errorOutput)")
    #expect(try words(sound) == all)
    let meant = try edit(sound, "txt", ["--yes"]) { _ in String(first) }
    #expect(meant.exitCode == 0 && meant.text.contains("16 words deleted"), "\(meant.text)")
    #expect(try words(sound) == Array(all.prefix(7)))
  }

  @Test("words go into files of their formats alone, and never over what describes a recording")
  func exports() throws {
    let pipeline = PackageFiles.pipeline("words.yaml")
    try run(pipeline, sound, text)
    let page = place.file("talk.html")
    let refused = try place.spool(["words", "export", sound, "-o", page])
    #expect(refused.exitCode == 2 && refused.errorOutput.contains(".srt"))
    #expect(!FileManager.default.fileExists(atPath: page))
    #expect(
      try place.spool(["words", "export", sound, "-o", page, "--format", "srt"]).exitCode == 0)
    let sidecar = try place.folder.write(#"{"title":"A talk"}"#, to: "talk.json")
    let over = try place.spool(["words", "export", sound, "-o", sidecar, "--replace"])
    #expect(over.exitCode == 1 && over.errorOutput.contains("sidecar"), "\(over.errorOutput)")
    let run = try place.spool(
      ["run", pipeline, sound, text, "--out", place.folder.path, "--replace"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try String(contentsOfFile: sidecar, encoding: .utf8) == #"{"title":"A talk"}"#)
    #expect(FileManager.default.fileExists(atPath: place.file("talk.spool.json")))
    for action in ["show", "export", "edit", "undo"] {
      let missing = try place.spool(["words", action, "missing.wav"])
      #expect(missing.exitCode == 2)
      #expect(missing.errorOutput.contains("there is no recording missing.wav"))
    }
  }

  @Test("a check of a pipeline warns of captions with the times before the cut that it exports")
  func checked() throws {
    func check(_ steps: String) throws -> Program.Result {
      let path = try place.folder.write(
        """
        pipeline: checked
        inputs: { note: sound, text: transcript }
        stages:
          - decode: { from: $note }
          - align: { transcript: $text }
          - cut: { remove: [{ from: 0 s, to: 2 s }] }
            from: decode
          - export: { formats: [wav] }
        \(steps)
        """, to: "checked.yaml")
      let check = try place.spool(["pipeline", "check", path])
      #expect(check.exitCode == 0 && check.text.contains("no problems"), "\(check.errorOutput)")
      return check
    }
    let late = try check("  - transcript: { formats: [srt], from: align }")
    #expect(
      late.errorOutput.contains("retime: { changes: [cut] }"), "\(late.errorOutput)")
    let retimed = try check(
      "  - retime: { changes: [cut], from: align }\n  - transcript: { formats: [srt] }")
    #expect(retimed.errorOutput == "")
    let both = try check(
      """
        - transcript: { formats: [srt], from: align }
        - export: { formats: [wav], name: whole, from: decode }
      """)
    #expect(both.errorOutput == "")
  }

  @Test(
    "it warns of captions with the times before a mix that moves the sound",
    arguments: [
      ("", "transcript", "put retime: { changes: [cut, mix], part: 1 }"),
      ("  - retime: { changes: cut, from: align }\n", "retime", "changes: [cut, mix], part: 1"),
      ("  - retime: { changes: [cut, mix], part: 1, from: align }\n", "", ""),
    ])
  func mixed(retime: String, step: String, advice: String) throws {
    func check(offset: String) throws -> String {
      let path = try place.folder.write(
        """
        pipeline: mixed
        inputs: { voice: sound, music: sound, text: transcript }
        stages:
          - decode: { from: $voice }
          - align: { transcript: $text }
          - cut: { remove: [{ from: 1 s, to: 2 s }] }
            from: decode
          - mixdown: { tracks: [{ offset: \(offset) }, {}] }
            id: mix
            from: [cut, $music]
          - export: { formats: [wav] }
        \(retime)  - transcript: { formats: [srt], from: \(retime.isEmpty ? "align" : "retime") }
        """, to: "mixed.yaml")
      let check = try place.spool(["pipeline", "check", path])
      #expect(check.exitCode == 0, "\(check.errorOutput)")
      return check.errorOutput
    }
    let told = try check(offset: "8 s")
    #expect(
      advice.isEmpty ? told.isEmpty : told.contains(step) && told.contains(advice), "\(told)")
    #expect(try !check(offset: "0 s").contains("mix, part"))
  }

  @Test("of several that join sounds, it names a line for each, which is right as it stands")
  func joinedTwice() throws {
    func check(_ retimes: String) throws -> Program.Result {
      let path = try place.folder.write(
        """
        pipeline: joined
        inputs: { intro: sound, voice: sound, music: sound, text: transcript }
        stages:
          - decode: { from: $voice }
          - align: { transcript: $text }
          - mixdown: { tracks: [{}, { offset: 2 s }] }
            id: mix
            from: [$music, decode]
          - cut: { remove: [{ from: 1 s, to: 2 s }] }
          - concat: { from: [$intro, cut] }
          - export: { formats: [wav] }
        \(retimes)  - transcript: { formats: [srt], from: \(retimes.isEmpty ? "align" : "retime-2") }
        """, to: "joined.yaml")
      return try place.spool(["pipeline", "check", path])
    }
    let advice = [
      "retime: { changes: [mix, cut], part: 2 }",
      "retime: { changes: [concat], part: 2 }",
    ]
    let told = try check("").errorOutput
    #expect(told.contains(advice.joined(separator: ", and below it ")), "\(told)")
    let taken = try check(advice.map { "  - \($0)\n" }.joined())
    #expect(taken.exitCode == 0 && taken.errorOutput.isEmpty, "\(taken.errorOutput)")
  }

  @Test("so do a plan, a run and a batch of the recordings that it is true of")
  func warned() throws {
    let path = try place.folder.write(
      """
      pipeline: moved
      inputs: { note: sound, text: transcript? }
      stages:
        - decode: { from: $note }
        - align: { transcript: $text }
          when: $text
        - transcript: { formats: [srt] }
          when: $text
        - speed: 1.25
          from: decode
        - export: { formats: [wav] }
      """, to: "moved.yaml")
    let folder = place.file("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-w", folder + "/a.wav", "a quiet morning"]).exitCode == 0)
    let sound = folder + "/a.wav"
    let text = try place.folder.write("a quiet morning", to: "in/a.txt")
    let words = "writes words with the times before speed"
    let plan = try place.spool(["pipeline", "plan", path, "note=\(sound)", "text=\(text)"])
    #expect(plan.errorOutput.contains(words), "\(plan.errorOutput)")
    let run = try place.spool(["run", path, sound, text, "--out", place.out])
    #expect(run.exitCode == 0 && run.errorOutput.contains(words), "\(run.errorOutput)")
    let batch = try place.spool(["batch", path, folder, "--out", place.file("batch")])
    #expect(batch.exitCode == 0, "\(batch.errorOutput)")
    let report = try String(contentsOfFile: place.file("batch/batch.json"), encoding: .utf8)
    #expect(report.contains(words), "\(report)")
    let without = try place.spool(["pipeline", "plan", path, "note=\(sound)", "text="])
    #expect(!without.errorOutput.contains(words), "\(without.errorOutput)")
  }

  @Test(
    "and of captions that follow some of the changes alone",
    arguments: ["[cut]": false, "[show], part: 2": false, "[cut, show], part: 2": true])
  func checkedChanges(changes: String, isWhole: Bool) throws {
    let path = try place.folder.write(
      """
      pipeline: checked
      inputs: { intro: sound, note: sound, text: transcript }
      stages:
        - decode: { from: $note }
        - align: { transcript: $text }
        - cut: { remove: [{ from: 0 s, to: 2 s }] }
          from: decode
        - concat: { from: [$intro, cut] }
          id: show
        - export: { formats: [wav] }
        - retime: { changes: \(changes), from: align }
        - transcript: { formats: [srt] }
      """, to: "checked.yaml")
    let check = try place.spool(["pipeline", "check", path])
    #expect(check.exitCode == 0)
    let way = "retime: { changes: [cut, show], part: 2 }"
    #expect(check.errorOutput.contains(way) == !isWhole, "\(check.errorOutput)")
    #expect(check.errorOutput.contains("alone, and the sound is exported") == !isWhole)
  }

  @Test(
    "and of captions with the times of a part, where the whole is exported",
    arguments: [
      ("[$intro, decode]", "retime: { changes: [concat], part: 2 }"),
      ("[$intro, $note, $intro]", "retime: { changes: [concat], part: 2 }"),
      ("[decode, $intro]", nil),
    ])
  func checkedParts(parts: String, advice: String?) throws {
    func check(_ steps: String) throws -> String {
      let path = try place.folder.write(
        """
        pipeline: checked
        inputs: { intro: sound, note: sound, text: transcript }
        stages:
          - decode: { from: $note }
          - align: { transcript: $text }
          - concat: { from: \(parts) }
          - export: { formats: [wav] }
        \(steps)
        """, to: "checked.yaml")
      let check = try place.spool(["pipeline", "check", path])
      #expect(check.exitCode == 0, "\(check.errorOutput)")
      return check.errorOutput
    }
    let late = try check("  - transcript: { formats: [srt], from: align }")
    if let advice { #expect(late.contains(advice), "\(late)") } else { #expect(late == "") }
    let moved = try check(
      "  - retime: { changes: concat, part: 2, from: align }\n  - transcript: { formats: [srt] }")
    #expect(moved == "")
  }
}
