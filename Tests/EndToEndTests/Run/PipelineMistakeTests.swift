import Foundation
import TestSupport
import Testing

@Suite("A mistake in a pipeline, or in what it is given, is told where it was made")
struct PipelineMistakeTests {
  @Test(
    "a name that no file can have, or with an unknown field, is refused before any work",
    arguments: [
      ("export: { formats: wav, name: '{stme}' }", "has no field {stme}", "{stem}"),
      ("export: { formats: wav, name: '../../{stem}' }", "leads to a folder", "a name without /"),
      ("export: { formats: wav, name: '{stem' }", "not closed", "{stem}"),
      ("waveform: { formats: dat, name: '{stam}' }", "has no field {stam}", "{stem}"),
      ("spectrogram: { name: '{peice}' }", "has no field {peice}", "{stem}"),
      ("split: { by: channel, formats: wav, name: '{peice}' }", "{peice}", "\"{piece}\""),
      ("export: { formats: wav, name: '' }", "name of export is empty", "{stem}"),
      ("export: { formats: wav, name: ' ' }", "name of export is empty", "{stem}"),
      ("export: { formats: wav, name: '-{stem}' }", "cannot be \"-{stem}\"", "mean \"_{stem}\""),
      ("transcript: { formats: srt, name: 'a\\b' }", "cannot be", "a_b"),
    ])
  func names(stage: String, flaw: String, advice: String) throws {
    let place = try Workspace()
    let path = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages:\n  - decode\n  - \(stage)\n")
    let result = try place.spool(["pipeline", "check", path])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("\(path):5:"), "\(result.errorOutput)")
    #expect(result.errorOutput.contains(flaw), "\(result.errorOutput)")
    #expect(result.errorOutput.contains(advice), "\(result.errorOutput)")
  }

  @Test("a variable in a longer text, and an unknown one, are one problem each")
  func variablesInTexts() throws {
    let place = try Workspace()
    let path = try place.pipeline(
      """
      pipeline: p
      vars: { ep: 7, cents: 3 }
      stages:
        - decode
        - normalize: { loudness: $nope }
        - eq: { bands: $bands }
        - gain: $gian
        - export: { formats: wav, name: "{stem}-$ep" }
        - export: { formats: mp3, name: "{stem} for $5" }
      """)
    let result = try place.spool(["pipeline", "check", path])
    #expect(result.exitCode == 2)
    let lines = result.errorOutput.split(separator: "\n").filter { $0.contains("error: ") }
    #expect(
      lines.map { $0.replacing("\(path):", with: "") } == [
        "5:28: error: there is no input or variable \"$nope\"",
        "6:18: error: there is no input or variable \"$bands\"",
        "7:11: error: there is no input or variable \"$gian\"",
        "8:35: error: name of export has the variable $ep in a text, where it is not replaced",
      ], "\(result.errorOutput)")
    #expect(result.errorOutput.contains("allowed: $ep alone, without quotes"))
  }

  @Test(
    "an input in a value's place is called an input, with what can stand there",
    arguments: [
      ("", "a value, or a variable: vars: { title: Untitled } makes $title one"),
      ("vars: { ep: 7 }\n", "a value, or $ep"),
    ])
  func inputAsVariable(variables: String, allowed: String) throws {
    let place = try Workspace()
    let path = try place.pipeline(
      "pipeline: p\ninputs: { r: sound }\n\(variables)stages:\n  - decode\n"
        + "  - export: { formats: [mp3], name: $r }\n")
    let result = try place.spool(["pipeline", "check", path])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("$r is an input of sound, and no variable"))
    #expect(
      result.errorOutput.contains("\(allowed); in names of files, {stem} is the name"),
      "\(result.errorOutput)")
    #expect(!result.errorOutput.contains("did you mean"), "\(result.errorOutput)")
  }

  @Test("a variable that no stage uses is warned of, and so is setting it")
  func unusedVariable() throws {
    let place = try Workspace()
    let pipeline = try place.pipeline(
      "pipeline: p\nvars: { used: -6 dB, unused: 3 }\nstages: [decode, gain: $used]\n")
    let check = try place.spool(["pipeline", "check", pipeline])
    #expect(check.exitCode == 0 && check.text.contains("no problems"))
    #expect(
      check.errorOutput == "warning: \(pipeline): no stage uses the variable $unused\n",
      "\(check.errorOutput)")
    let sound = place.file("in/a.wav")
    try FileManager.default.createDirectory(
      atPath: place.file("in"), withIntermediateDirectories: false)
    try Reference.record(sound, seconds: 0.3, channels: 1)
    for command in [["run"], ["pipeline", "plan"], ["batch"]] {
      let input = command == ["batch"] ? place.file("in") : sound
      let arguments = command + [pipeline, input, "--set", "used=-3 dB"]
      #expect(try place.spool(arguments).errorOutput == "", "\(command)")
      let set = try place.spool(arguments + ["--set", "unused=5"])
      #expect(set.exitCode == 0, "\(set.errorOutput)")
      #expect(
        set.errorOutput
          == "warning: --set unused changes nothing: no stage of p uses the variable $unused\n",
        "\(command): \(set.errorOutput)")
    }
  }

  @Test("values that do not go together are blamed on the one that the user set")
  func overriddenPair() throws {
    let place = try Workspace()
    try Reference.record(place.file("a.wav"), seconds: 1)
    let path = place.file("interview.yaml")
    try FileManager.default.copyItem(atPath: PackageFiles.pipeline("interview.yaml"), toPath: path)
    let result = try place.spool(
      ["run", path, place.file("a.wav"), "--set", "pause=100ms", "--out", place.out])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("--set pause"), "\(result.errorOutput)")
    #expect(!result.errorOutput.contains("\(path):"), "\(result.errorOutput)")
  }

  @Test(
    "what a stage cannot do with its sources is refused before any work",
    arguments: [
      (
        "- retime: { changes: measure, from: align }",
        "retime cannot follow measure: measure moves no sound in time"
      ),
      (
        "- retime: { changes: concat, from: align }",
        "retime does not know whose words it moves: concat takes several recordings"
      ),
      (
        "- retime: { changes: concat, part: 3, from: align }",
        "retime cannot find part 3 of concat: it takes 2"
      ),
      (
        "- mixdown: { from: [$a, concat], match: -20 LUFS }",
        "there is no voice to match: no track is marked as one"
      ),
      (
        "- mixdown: { from: [$a, concat], match: -20 LUFS, tracks: [{}, { role: music }] }",
        "there is no voice to match: no track is marked as one"
      ),
      ("- mixdown: { from: [$a, concat], match: -20 LUFS, tracks: [{ role: voice }] }", nil),
      ("- mixdown: { from: [$a, concat], match: -20 LUFS, session: $s }", nil),
      ("- retime: { changes: [cut, concat], part: 2, from: align }", nil),
    ])
  func sources(step: String, flaw: String?) throws {
    let place = try Workspace()
    let path = try place.pipeline(
      """
      pipeline: p
      inputs: { a: sound, b: sound, t: transcript, s: file? }
      stages:
        - decode: { from: $b }
        - measure
        - align: { transcript: $t, from: decode }
        - cut: { from: decode, remove: [{ from: 1 s, to: 2 s }] }
        - concat: { from: [$a, cut] }
        \(step)
      """)
    let result = try place.spool(["pipeline", "check", path])
    #expect(result.exitCode == (flaw == nil ? 0 : 2), "\(result.errorOutput)")
    if let flaw {
      #expect(result.errorOutput.contains("9:5: error: \(flaw)"), "\(result.errorOutput)")
    }
  }

  @Test("a misspelt pipeline is told with the one that was meant, by name and by path")
  func misspeltPipelines() throws {
    let place = try Workspace()
    try place.folder.write("pipeline: p\nstages: [decode, { export: wav }]\n", to: "mine.yaml")
    for (typed, meant) in [
      ("podcst", "podcast"), ("mien", "mine"), ("mime.yaml", "mine.yaml"),
      ("./mine.yml", "./mine.yaml"),
    ] {
      let complaint = try #require(Complaint(try place.spool(["run", typed, "x.wav"]).errorOutput))
      #expect(complaint.what == "cannot read the pipeline \(typed); did you mean \(meant)?")
    }
    let far = Complaint(try place.spool(["run", "qqqqqq", "x.wav"]).errorOutput)
    #expect(far?.what == "cannot read the pipeline qqqqqq")
  }

  @Test("a pipeline that takes several recordings together is no pipeline for a batch or an inbox")
  func lists() throws {
    let place = try Workspace()
    let path = try place.pipeline(
      "pipeline: p\ninputs: { tracks: sound+ }\nstages:\n  - mixdown: { from: $tracks }\n"
        + "  - export: wav\n")
    try FileManager.default.createDirectory(
      atPath: place.file("in"), withIntermediateDirectories: false)
    for (command, flaw) in [
      ("batch", "a batch gives each run one recording, and \"tracks\" takes several together"),
      ("watch", "\"tracks\" takes several recordings together"),
    ] {
      let result = try place.spool([command, path, "in"])
      #expect(result.exitCode == 2)
      #expect(
        result.errorOutput.contains("\(path):2:11: error: \(flaw)\n"), "\(result.errorOutput)")
      #expect(result.errorOutput.contains("allowed: tracks: sound"), "\(result.errorOutput)")
      #expect(result.errorOutput.contains("1 problem in"), "\(result.errorOutput)")
    }
  }

  @Test("two steps that export under the same names are told of, unless they export other inputs")
  func clash() throws {
    let place = try Workspace()
    let clash = try place.pipeline(
      "pipeline: p\ninputs: { note: sound }\nstages:\n  - decode\n  - export: wav\n"
        + "  - export: [flac, wav]\n")
    let result = try place.spool(["pipeline", "check", clash])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("\(clash):6:5: error: export-2"), "\(result.errorOutput)")
    let note = PackageFiles.sample("take.flac")
    for command in [["pipeline", "plan"], ["run"]] {
      let refused = try place.spool(command + [clash, note, "--out", place.out])
      #expect(refused.exitCode == 2 && refused.errorOutput.contains("error: export-2"))
    }
    let apart = try place.pipeline(
      "pipeline: p\ninputs: { a: sound, b: sound }\nstages:\n  - decode: { from: $a }\n"
        + "  - export: wav\n  - decode: { from: $b }\n  - export: wav\n")
    let fine = try place.spool(["pipeline", "check", apart])
    #expect(fine.exitCode == 0, "\(fine.errorOutput)")
  }

  @Test("problems of what is typed for variables are counted where they are", arguments: [0, 1])
  func typedValues(ownCount: Int) throws {
    let place = try Workspace()
    let path = try place.pipeline(
      "pipeline: p\nvars: { formats: [wav] }\nstages:\n  - decode"
        + (ownCount == 0 ? "" : ": { x: 1 }") + "\n  - export: $formats\n")
    let typed = ["--set", "formats=[ttml, txt]", "--set", "formatz=wav"]
    let result = try place.spool(["run", path, PackageFiles.sample("note-1.m4a")] + typed)
    #expect(result.exitCode == 2)
    let end = ownCount == 0 ? "3 problems in --set" : "4 problems in \(path) and --set"
    #expect(result.errorOutput.hasSuffix("\n\(end)\n"), "\(result.errorOutput)")
  }

  @Test("a missing input is one problem, and a misspelt one is told with the right name")
  func inputs() throws {
    let place = try Workspace()
    let missing = try place.spool(["run", PackageFiles.pipeline("voice-note.yaml")])
    #expect(missing.exitCode == 2)
    #expect(missing.errorOutput.contains("1 problem in"), "\(missing.errorOutput)")
    #expect(missing.errorOutput.contains("the input \"note\" was not given"))
    let misspelt = try place.spool([
      "run", PackageFiles.pipeline("voice-note.yaml"), "notes=x.m4a",
    ])
    #expect(misspelt.exitCode == 2)
    #expect(misspelt.errorOutput.contains("help:  note=x.m4a"), "\(misspelt.errorOutput)")
  }

  @Test("a second recording is no text of the first")
  func secondRecording() throws {
    let place = try Workspace()
    let note = PackageFiles.sample("take.flac")
    let run = try place.spool(["run", PackageFiles.pipeline("words.yaml"), note, note])
    #expect(run.exitCode == 2, "\(run.errorOutput)")
    let complaint = try #require(Complaint(run.errorOutput), "\(run.errorOutput)")
    #expect(complaint.what.hasSuffix("is no text"), "\(complaint)")
  }

  @Test("a recording whose name is no text is told to be renamed")
  func unnameable() throws {
    let place = try Workspace()
    let shell = try #require(Program(named: "sh"))
    let name = "name=$(printf 'bad\\377.wav'); : > \"$name\"; exec \"$0\" \"$@\" \"$name\""
    let result = try place.spool(
      ["run", PackageFiles.pipeline("voice-note.yaml")], under: shell, ["-c", name])
    #expect(result.exitCode == 2)
    #expect(result.errorOutput.contains("not UTF-8"), "\(result.errorOutput)")
    #expect(result.errorOutput.contains("rename it"))
  }

  @Test("a variable, a ratio in a threshold's place and a step are told with what is meant")
  func words() throws {
    let place = try Workspace()
    let path = try place.pipeline(
      """
      pipeline: p
      inputs: { note: sound }
      vars: { gane: 3 dB }
      stages:
        - decode
        - compress: 4:1
        - eqq
        - gain: $gain
          from: decoed
      """)
    let text = try place.spool(["pipeline", "check", path]).errorOutput
    #expect(text.contains("\"$gane\""), "\(text)")
    #expect(text.contains("threshold of compress is one number, not \"4:1\""), "\(text)")
    #expect(text.contains("allowed: decode, compress\n"), "\(text)")
  }

  @Test("a file of a format that the export does not write is no source", arguments: [false, true])
  func formats(isSet: Bool) throws {
    let place = try Workspace()
    let path = try place.pipeline(
      """
      pipeline: p
      inputs: { note: sound }
      vars: { formats: [mp3\(isSet ? ", m4a" : "")] }
      stages:
        - decode
        - export: $formats
        - measure-exports: { files: [export.mp3, export.m4a] }
      """)
    try Reference.record(place.file("note.wav"), seconds: 1)
    let check = try place.spool(
      isSet
        ? ["pipeline", "plan", path, place.file("note.wav"), "--set", "formats=mp3"]
        : ["pipeline", "check", path])
    #expect(check.exitCode == 2, "\(check.errorOutput)")
    #expect(
      check.errorOutput.contains("export has no output \"m4a\"")
        && check.errorOutput.contains("allowed: mp3, measurement"), "\(check.errorOutput)")
    if isSet { #expect(try place.spool(["pipeline", "check", path]).exitCode == 0) }
  }

  @Test(
    "a time where a source is named is told of as the start that was probably meant",
    arguments: ["1:00", "90 s", "60", "$begin"])
  func timeAsSource(time: String) throws {
    let place = try Workspace()
    func check(_ stage: String) throws -> String {
      let path = try place.pipeline(
        """
        pipeline: p
        inputs: { note: sound }
        vars: { begin: 1 s, gain: 1 dB }
        stages:
          - decode
          - \(stage): { from: \(time) }
          - export: wav
        """)
      let check = try place.spool(["pipeline", "check", path])
      #expect(check.exitCode == 2)
      return check.errorOutput
    }
    let text = try check("trim")
    #expect(text.contains(":6:"), "\(text)")
    #expect(text.contains("did you mean \"start: \(time)\"?"), "\(text)")
    #expect(try !check("normalize").contains("start"))
  }

  @Test("a word that is short for another, and the parameters of a misspelt kind, are told of, too")
  func shortWords() throws {
    let place = try Workspace()
    let path = try place.pipeline(
      """
      pipeline: p
      inputs: { note: sound }
      stages:
        - decode
        - eq: { bands: [{ type: highpass, freq: 80 Hz }] }
        - comprss: { ration: 3 }
        - concat: { form: [eq] }
      """)
    let text = try place.spool(["pipeline", "check", path]).errorOutput
    #expect(
      text.contains(":5:37: error: \"freq\"") && text.contains("mean \"frequency\"?"), "\(text)")
    #expect(text.contains(":6:5: error: there is no stage kind \"comprss\""), "\(text)")
    #expect(text.contains(":6:16: error: \"ration\" is not a parameter of compress"), "\(text)")
    #expect(text.contains("\"form\" is not a parameter of concat"), "\(text)")
    #expect(text.contains("channels, from, parts") && text.contains("mean \"from\"?"), "\(text)")
  }

  @Test(
    "what an unknown kind gives is not held against the stages below, and plugins are named once")
  func unknownKinds() throws {
    let place = try Workspace()
    try FileManager.default.createDirectory(
      atPath: place.file("copied"), withIntermediateDirectories: true)
    let path = try place.folder.write(
      String(contentsOfFile: PackageFiles.pipeline("minutes.yaml"), encoding: .utf8),
      to: "copied/minutes.yaml")
    let text = try place.spool(["pipeline", "check", path]).errorOutput
    #expect(text.contains("2 problems in"), "\(text)")
    #expect(text.components(separatedBy: "plugins were looked for").count == 2, "\(text)")
    #expect(text.contains("--plugins"), "\(text)")
    // With the folder that it names, nothing is wrong with the kinds.
    let named = try place.spool(["pipeline", "check", path, "--plugins", PackageFiles.plugin("")])
    #expect(!named.errorOutput.contains("there is no stage kind"), "\(named.errorOutput)")
  }

  @Test("a plan looks at the output folder as a run does, and makes none")
  func outputFolder() throws {
    let place = try Workspace()
    let file = try place.folder.write("a file", to: "taken")
    let words = [PackageFiles.pipeline("voice-note.yaml"), PackageFiles.sample("note-1.m4a")]
    for folder in [file, place.file("none/below")] {
      let plan = try place.spool(["pipeline", "plan"] + words + ["--out", folder])
      let run = try place.spool(["run"] + words + ["--out", folder])
      #expect(plan.exitCode == 1)
      #expect(plan.errorOutput == run.errorOutput)
    }
    #expect(try place.spool(["pipeline", "plan"] + words + ["--out", place.out]).exitCode == 0)
    #expect(!Workspace.names(in: place.folder.path).contains("out"))
  }
}
