import Foundation
import TestSupport
import Testing

@Suite("Words are shown, corrected and exported") struct WordsCommandTests {
  private static let text = """
    Please call me back on Monday morning, because the meeting with the client was moved. The \
    quick brown fox jumps over the lazy dog.
    """

  private let place: Workspace
  private let sound: String
  private let text: String

  init() throws {
    place = try Workspace()
    sound = place.file("talk.wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "en-us+m3", "-w", sound, Self.text]).exitCode == 0)
    text = try place.folder.write(Self.text, to: "talk.txt")
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound, text])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
  }

  private struct Word: Decodable, Hashable {
    let word: Int
    let text: String
    let startTime: Double?
    let endTime: Double?
  }

  private func words(_ options: String...) throws -> [Word] {
    let shown = try place.spool(["words", "show", sound, "--json"] + options)
    #expect(shown.exitCode == 0, "\(shown.errorOutput)")
    return try shown.text.split(separator: "\n").map {
      try JSONDecoder().decode(Word.self, from: Data($0.utf8))
    }
  }

  private func isFound(_ word: String) throws -> Bool {
    try place.spool(["search", word]).exitCode == 0
  }

  /// Writes the exported captions with other words.
  private func captions(_ format: String, replacing old: String, with new: String) throws -> String
  {
    let path = place.file("edited.\(format)")
    let export = try place.spool(["words", "export", sound, "-o", path])
    #expect(export.exitCode == 0, "\(export.errorOutput)")
    let before = try String(contentsOfFile: path, encoding: .utf8)
    #expect(before.contains(old))
    try before.replacingOccurrences(of: old, with: new)
      .write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  @Test("an edited text may come through a pipe, which is read once", arguments: ["srt", "txt"])
  func pipe(format: String) throws {
    let path = try captions(format, replacing: "lazy", with: "sleepy")
    let shell = try #require(Program(named: "bash"))
    let edit = try place.spool(
      [sound, path], under: shell, ["-c", "\"$0\" words edit \"$1\" --from <(cat \"$2\")"])
    #expect(edit.exitCode == 0, "\(edit.errorOutput)")
    #expect(edit.text.contains("1 place"), "\(edit.text)")
  }

  @Test("a text from before a correction takes that one back, and this is said")
  func takenBack() throws {
    let old = try captions("srt", replacing: "brown", with: "red")
    let edited = try place.folder.write(
      Self.text.replacingOccurrences(of: "lazy", with: "sleepy"), to: "sleepy.txt")
    #expect(try place.spool(["words", "edit", sound, "--from", edited]).exitCode == 0)
    let edit = try place.spool(["words", "edit", sound, "--from", old])
    #expect(edit.text.contains("2 places"), "\(edit)")
    #expect(edit.text.contains("1 of these takes an earlier correction back"), "\(edit.text)")
  }

  @Test("- is standard output, and no file")
  func standardOutput() throws {
    let plain = try place.spool(["words", "export", sound])
    let dash = try place.spool(["words", "export", sound, "-o", "-"])
    #expect(dash.exitCode == 0 && dash.text == plain.text, "\(dash.errorOutput)")
    #expect(!FileManager.default.fileExists(atPath: place.file("-")))
  }

  @Test(
    "an edited text or caption corrects words, which keep their times, and search finds no others",
    arguments: ["txt", "srt", "vtt"])
  func edit(format: String) throws {
    let before = try words()
    let old = try #require(before.first { $0.text == "lazy" })
    let path = try captions(format, replacing: "lazy", with: "sleepy")
    let edit = try place.spool(["words", "edit", sound, "--from", path])
    #expect(edit.exitCode == 0, "\(edit.errorOutput)")
    #expect(edit.text.contains("corrected talk.wav: 1 place"), "\(edit.text)")
    let after = try words()
    #expect(after.count == before.count)
    let new = try #require(after.first { $0.text == "sleepy" })
    #expect([new.startTime, new.endTime] == [old.startTime, old.endTime])
    #expect(try isFound("sleepy") && !isFound("lazy"))
    #expect(try place.spool(["store", "gc", "--sound", "--grace", "0s"]).exitCode == 0)
    #expect(try isFound("sleepy") && !isFound("lazy"))
    let captions = try place.spool(["words", "export", sound, "--format", "vtt"])
    #expect(captions.text.contains("sleepy") && !captions.text.contains("lazy"))

    let same = try place.spool(["words", "edit", "last", "--from", path])
    #expect(same.exitCode == 0 && same.text.contains("nothing is corrected"), "\(same.text)")
    let undone = try place.spool(["words", "undo", sound])
    #expect(undone.exitCode == 0 && undone.text.contains("none is left"), "\(undone.text)")
    #expect(try words() == before)
    #expect(try isFound("lazy") && !isFound("sleepy"))
    let nothing = try place.spool(["words", "undo", sound])
    #expect(nothing.exitCode == 1)
    #expect(
      nothing.errorOutput.hasPrefix("error: there is no correction of"), "\(nothing.errorOutput)")
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("an editor gets the words, and what it saves is the correction; nothing saved is none")
  func editor() throws {
    func edit(_ editor: String) throws -> Program.Result {
      try place.spool(["words", "edit", "last"], environment: ["EDITOR": editor, "VISUAL": ""])
    }
    let nothing = try edit("true")
    #expect(nothing.exitCode == 0 && nothing.text.contains("nothing is corrected"))
    let edited = try edit("sed -i -e s/Monday/Tuesday/ -e s/brown.fox/fox/")
    #expect(edited.exitCode == 0, "\(edited.errorOutput)")
    #expect(edited.text.contains("2 places"), "\(edited.text)")
    #expect(try isFound("quick fox") && isFound("Tuesday morning") && !isFound("brown"))
    let failed = try edit("false")
    #expect(failed.exitCode == 1 && failed.errorOutput.contains("false"), "\(failed.errorOutput)")
    #expect(try isFound("Tuesday"))
    // What was saved before the editor failed is kept, and the advised line takes it in.
    let crashed = try edit("f() { sed -i s/Tuesday/Friday/ \"$1\"; return 1; }; f")
    #expect(crashed.exitCode == 1)
    let file = try #require(
      crashed.errorOutput.firstMatch(of: /--from (\S+)/)?.1, "\(crashed.errorOutput)")
    let taken = try place.spool(["words", "edit", "last", "--from", String(file)])
    #expect(taken.exitCode == 0, "\(taken.errorOutput)")
    #expect(try isFound("Friday") && !isFound("Tuesday"))
    try FileManager.default.removeItem(atPath: String(file))
  }

  @Test("what an editor shows is no part of the JSON, nor of any other file of the output")
  func editorScreen() throws {
    for (options, isJSON) in [([], false), (["--json"], true)] {
      let edit = try place.spool(
        ["words", "edit", "last"] + options,
        environment: ["EDITOR": "echo SCREEN; true", "VISUAL": ""])
      #expect(edit.exitCode == 0, "\(edit.errorOutput)")
      #expect(!edit.text.contains("SCREEN"), "\(edit.text)")
      #expect(edit.text.hasPrefix("{") == isJSON, "\(edit.text)")
    }
  }

  @Test("a text of something else is refused, and changes nothing")
  func foreign() throws {
    let before = try words()
    let other = try place.folder.write(
      "Whereas recognition of the inherent dignity of all members of the human family is",
      to: "other.txt")
    let edit = try place.spool(["words", "edit", sound, "--from", other])
    #expect(edit.exitCode == 1)
    #expect(
      edit.errorOutput.hasPrefix("error: the text does not belong to talk.wav\n"),
      "\(edit.errorOutput)")
    let empty = try place.folder.write("", to: "empty.txt")
    #expect(try place.spool(["words", "edit", sound, "--from", empty]).exitCode == 1)
    #expect(try place.spool(["words", "edit", sound, "--from", "absent.txt"]).exitCode != 0)
    #expect(try place.spool(["words", "show", "no-such-run"]).exitCode == 2)
    #expect(try words() == before)
  }

  @Test("captions that were edited stay, and a later run writes its own beside them")
  func editedCaptions() throws {
    let path = place.out + "/talk.srt"
    let edited = try String(contentsOfFile: path, encoding: .utf8)
      .replacingOccurrences(of: "lazy", with: "sleepy")
    try edited.write(toFile: path, atomically: true, encoding: .utf8)
    let run = try place.run(PackageFiles.pipeline("words.yaml"), [sound, text])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == edited)
    let own = try String(contentsOfFile: place.out + "/talk.spool.srt", encoding: .utf8)
    #expect(own.contains("lazy"))
    let edit = try place.spool(["words", "edit", sound, "--from", path])
    #expect(edit.exitCode == 0 && edit.text.contains("1 place"), "\(edit.errorOutput)")
  }

  @Test("corrections outlive the database, and a backup has them")
  func durable() throws {
    let path = try captions("txt", replacing: "lazy", with: "sleepy")
    #expect(try place.spool(["words", "edit", sound, "--from", path]).exitCode == 0)
    let corrected = try words()
    try Data("destroyed".utf8).write(to: URL(fileURLWithPath: place.store + "/spool.sqlite"))
    #expect(try words() == corrected)
    let backup = place.file("backup")
    #expect(try place.spool(["store", "backup", backup]).exitCode == 0)
    #expect(try place.spool(["words", "undo", sound]).exitCode == 0)
    #expect(try words() != corrected)
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("an edit that is killed is made as a whole, or not at all")
  func killed() throws {
    let before = try words()
    let path = try captions("txt", replacing: "lazy", with: "sleepy")
    var number = 1
    var outcomes: Set<Bool> = []
    while true {
      let edit = try place.spool(
        ["words", "edit", sound, "--from", path],
        environment: ["SPOOL_CRASH_BEFORE": "\(number)"])
      if edit.exitCode != 128 + SIGKILL {
        #expect(edit.exitCode == 0, "\(edit.errorOutput)")
        break
      }
      let after = try words()
      let isMade = after != before
      outcomes.insert(isMade)
      if isMade {
        #expect(after.count { $0.text == "sleepy" } == 1 && after.count == before.count)
        #expect(try place.spool(["words", "undo", sound]).exitCode == 0)
      }
      number += 1
    }
    #expect(outcomes.contains(false))
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("a text in another language is refused with the option that names the language")
  func language() throws {
    let german = """
      Der Hund ist heute nicht zu Hause, und die Katze schläft auf dem Sofa. Wir haben den ganzen \
      Tag gewartet, aber es kam keine Nachricht von der Familie.
      """
    let speech = place.file("rede.wav")
    let program = try #require(Program(named: "espeak-ng"))
    #expect(try program.run(["-v", "de", "-w", speech, german]).exitCode == 0)
    let text = try place.folder.write(german, to: "rede.txt")
    let pipeline = PackageFiles.pipeline("words.yaml")
    let set = try place.run(pipeline, [speech, text], ["--set", "language=de"])
    #expect(set.exitCode == 0, "\(set.errorOutput)")
    let wrong = try place.run(pipeline, [speech, text], ["--set", "language=en"])
    #expect(wrong.exitCode == 1)
    #expect(wrong.errorOutput.contains("--set language=de"), "\(wrong.errorOutput)")
  }
}
