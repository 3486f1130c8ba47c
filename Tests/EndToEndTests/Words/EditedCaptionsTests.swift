import Foundation
import TestSupport
import Testing

@Suite("Captions that were edited by hand stay, and the program writes its own beside them")
struct EditedCaptionsTests {
  private static let text = """
    Please call me back on Monday morning. The meeting with the client was moved. The quick brown \
    fox jumps over the lazy dog.
    """
  private static let pipeline = """
    pipeline: captions
    inputs: { tape: sound, text: transcript? }
    stages:
      - decode: { from: $tape }
      - align: { transcript: $text }
      - transcript: [srt]
    """

  private let place: Workspace
  private let sound: String
  private let text: String
  private let pipeline: String

  init() throws {
    place = try Workspace()
    sound = place.file("talk.wav")
    text = try place.folder.write(Self.text, to: "talk.txt")
    pipeline = try place.pipeline(Self.pipeline)
    try Self.speak(to: sound)
  }

  private static func speak(to path: String, _ options: [String] = []) throws {
    let program = try #require(Program(named: "espeak-ng"))
    let words = try program.run(["-v", "en-us+m3", "-w", path] + options + [text])
    #expect(words.exitCode == 0)
  }

  private func run(_ options: String...) throws -> Program.Result {
    let run = try place.spool(["run", pipeline, sound, text, "--out", place.out] + options)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    return run
  }

  private func captions(_ name: String = "talk.srt") throws -> String {
    try String(contentsOfFile: place.out + "/" + name, encoding: .utf8)
  }

  private func isThere(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: place.out + "/" + name)
  }

  /// Edits captions by hand.
  @discardableResult
  private func edit(
    _ old: String, _ new: String, in name: String = "talk.srt"
  ) throws -> String {
    let before = try captions(name)
    let after = before.replacingOccurrences(of: old, with: new)
    #expect(before != after)
    try after.write(toFile: place.out + "/" + name, atomically: true, encoding: .utf8)
    return after
  }

  private func correct(_ old: String, _ new: String) throws {
    let edit = try place.spool(
      ["words", "edit", sound],
      environment: ["EDITOR": "sed -i s/\(old)/\(new)/", "VISUAL": ""])
    #expect(edit.exitCode == 0 && edit.text.contains("corrected"), "\(edit.errorOutput)")
  }

  @Test(
    "--replace leaves them, also of another recording, and without them the usual name is used")
  func replacing() throws {
    _ = try run()
    let edited = try edit("lazy", "sleepy")
    let same = try run("--replace")
    let advised = "spool words edit \(sound) --from \(place.out)/talk.srt\n"
    #expect(same.errorOutput.contains("to take its words in: \(advised)"), "\(same.errorOutput)")
    #expect(try captions() == edited)
    #expect(try captions("talk.spool.srt").contains("lazy"))
    #expect(same.errorOutput.contains("talk.srt was edited"), "\(same.errorOutput)")
    #expect(same.errorOutput.contains("deleted or moved, talk.srt is written again"))
    try Self.speak(to: sound, ["-s", "150"])
    _ = try run("--replace")
    #expect(try captions() == edited)
    try FileManager.default.removeItem(atPath: place.out + "/talk.srt")
    let again = try run("--replace")
    #expect(try captions().contains("lazy"))
    #expect(!isThere("talk.spool.srt"))
    #expect(again.errorOutput.contains("talk.spool.srt was removed"), "\(again.errorOutput)")
  }

  @Test("captions with the same words that a pause put in has moved do not fit the new sound")
  func movedCaptions() throws {
    _ = try run()
    try edit("-->", " --> ")
    #expect(try run().errorOutput.contains("has the same words: it stays"))
    let pause = """
      import sys, wave
      tape = wave.open(sys.argv[1]); head = tape.getparams(); half = head.nframes * 3 // 10
      first = tape.readframes(half); rest = tape.readframes(head.nframes)
      tape = wave.open(sys.argv[1], "wb"); tape.setparams(head)
      tape.writeframes(first + bytes(head.framerate * head.sampwidth) + rest)
      """
    let put = try #require(Program(named: "python3")).run(["-c", pause, sound])
    #expect(put.exitCode == 0, "\(put.errorOutput)")
    let moved = try run("--replace")
    #expect(
      moved.errorOutput.contains("the same words, but at other times"), "\(moved.errorOutput)")
  }

  @Test("captions correct the words that they were written of, whichever text came later")
  func ownWords() throws {
    _ = try run()
    let other = try place.folder.write(
      Self.text.replacingOccurrences(of: "quick brown", with: "swift red"), to: "other.txt")
    let later = try place.spool(["run", pipeline, sound, other, "--out", place.file("other")])
    #expect(later.exitCode == 0, "\(later.errorOutput)")
    try edit("lazy", "sleepy")
    let taken = try place.spool(["words", "edit", sound, "--from", place.out + "/talk.srt"])
    #expect(taken.text.contains("corrected talk.wav: 1 place\n"), "\(taken.text)")
    _ = try run()
    #expect(try captions().contains("quick brown") && captions().contains("sleepy"))
    let again = try place.spool(["run", pipeline, sound, other, "--out", place.file("other")])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    let captions = try String(contentsOfFile: place.file("other/talk.srt"), encoding: .utf8)
    #expect(captions.contains("swift red") && captions.contains("sleepy"))
  }

  @Test("a batch that replaces the exports of a changed recording leaves those of all recordings")
  func batch() throws {
    let folder = place.file("in")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for name in ["one", "two"] {
      try FileManager.default.copyItem(atPath: sound, toPath: "\(folder)/\(name).wav")
      try FileManager.default.copyItem(atPath: text, toPath: "\(folder)/\(name).txt")
    }
    func batch(_ options: String...) throws -> Program.Result {
      let batch = try place.spool(["batch", pipeline, folder, "--out", place.out] + options)
      #expect(batch.exitCode == 0, "\(batch.errorOutput)")
      return batch
    }
    _ = try batch()
    let edited = try ["one.srt", "two.srt"].map { try edit("lazy", "sleepy", in: $0) }
    try Self.speak(to: folder + "/one.wav", ["-s", "150"])
    let replaced = try batch("--replace")
    #expect(try ["one.srt", "two.srt"].map { try captions($0) } == edited)
    #expect(try captions("one.spool.srt").contains("lazy"))
    #expect(replaced.errorOutput.contains("one.srt was edited"), "\(replaced.errorOutput)")
  }

  @Test("they stop no run that has a correction to write")
  func corrected() throws {
    _ = try run()
    try correct("Monday", "Tuesday")
    let edited = try edit("lazy", "sleepy")
    let plan = try place.spool(["pipeline", "plan", pipeline, sound, text, "--out", place.out])
    #expect(plan.exitCode == 0 && !plan.text.contains("refused"), "\(plan.text)")
    _ = try run()
    #expect(try captions() == edited)
    #expect(try captions("talk.spool.srt").contains("Tuesday"))
  }

  @Test("nor one of another recording, whose words go beside those of the one before")
  func otherRecording() throws {
    _ = try run()
    try edit("lazy", "sleepy")
    _ = try run()
    let before = try captions("talk.spool.srt")
    try Self.speak(to: sound, ["-s", "150"])
    let other = try run()
    #expect(other.errorOutput.contains("new words are in talk.spool-2.srt"), "\(other.errorOutput)")
    #expect(try captions("talk.spool.srt") == before)
    #expect(try captions("talk.spool-2.srt").contains("lazy"))
  }

  @Test("beside the recording they are its text, and no recording that is in the way")
  func besideTheRecording() throws {
    try FileManager.default.removeItem(atPath: text)
    func run() throws -> Program.Result {
      let run = try place.spool(
        ["run", PackageFiles.pipeline("words.yaml"), sound, "--out", place.folder.path])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      return run
    }
    _ = try run()
    let path = place.file("talk.srt")
    let before = try String(contentsOfFile: path, encoding: .utf8)
    let word = try #require(before.split(separator: "\n").last?.split(separator: " ").last)
    let edited = before.replacingOccurrences(of: String(word), with: "poodle")
    try edited.write(toFile: path, atomically: true, encoding: .utf8)
    let again = try run()
    #expect(try String(contentsOfFile: path, encoding: .utf8) == edited)
    #expect(again.errorOutput.contains("words are in talk.spool.srt"), "\(again.errorOutput)")
    let own = try String(contentsOfFile: place.file("talk.spool.srt"), encoding: .utf8)
    #expect(own.contains("poodle"))
  }

  @Test("those with other times, and the very bytes that were written, were not edited")
  func touched() throws {
    _ = try run()
    let path = place.out + "/talk.srt"
    let copy = place.file("copy.srt")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: copy, toPath: path)
    try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: path)
    try correct("lazy", "sleepy")
    let again = try run()
    #expect(try captions().contains("sleepy"))
    #expect(!isThere("talk.spool.srt") && !again.errorOutput.contains("edited"))
  }

  @Test("the file beside them is removed when their words are taken in, and an edited one is not")
  func takenIn() throws {
    _ = try run()
    let edited = try edit("lazy", "hazy")
    _ = try run()
    #expect(try captions("talk.spool.srt").contains("lazy"))
    let take = try place.spool(["words", "edit", sound, "--from", place.out + "/talk.srt"])
    #expect(take.exitCode == 0, "\(take.errorOutput)")
    _ = try run()
    #expect(try captions() == edited)
    #expect(!isThere("talk.spool.srt"))

    try edit("Monday", "Friday")
    _ = try run()
    let own = try edit("Monday", "Sunday", in: "talk.spool.srt")
    try FileManager.default.removeItem(atPath: place.out + "/talk.srt")
    _ = try run()
    #expect(try captions("talk.spool.srt") == own)
    #expect(try captions().contains("Monday"))
  }

  @Test("edited captions with other speakers and times say that only their words are taken in")
  func labels() throws {
    try "ANNA: \(Self.text)".write(toFile: text, atomically: true, encoding: .utf8)
    _ = try run()
    let path = place.file("edited.srt")
    func take(_ change: (String) -> String) throws -> Program.Result {
      try change(captions()).write(toFile: path, atomically: true, encoding: .utf8)
      let take = try place.spool(["words", "edit", sound, "--from", path])
      #expect(take.exitCode == 0, "\(take.errorOutput)")
      return take
    }
    #expect(try !take { $0 }.errorOutput.contains("only its words"))
    let labels = try take { $0.replacingOccurrences(of: "[ANNA]", with: "[BERT]") }
    #expect(labels.text.contains("nothing is corrected"), "\(labels.text)")
    #expect(
      labels.errorOutput.contains("other speakers, and only its words")
        && labels.errorOutput.contains(text), "\(labels.errorOutput)")
    #expect(!labels.errorOutput.contains("other times"))
    let times = try take { $0.replacingOccurrences(of: "00:00:0", with: "00:01:0") }
    #expect(times.errorOutput.contains("other times, and only its words"), "\(times.errorOutput)")
  }

  @Test("captions of a sound that begins later have the times of that, and are not called changed")
  func movedTimes() throws {
    let intro = place.file("intro.wav")
    try Reference.record(intro, seconds: 3, rate: 22050, channels: 1)
    let show = try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound, tape: sound, text: transcript }
      stages:
        - decode: { from: $tape }
        - align: { transcript: $text }
        - concat: { from: [$intro, decode] }
        - retime: { changes: concat, part: 2, from: align }
        - transcript: { formats: [srt], name: show }
      """, named: "show.yaml")
    let run = try place.spool(["run", show, intro, sound, text, "--out", place.out])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let shown = try captions("show.srt")
    #expect(shown.contains("00:00:03,"), "\(shown)")
    let path = try place.folder.write(
      shown.replacing("lazy", with: "sleepy").replacing("Monday", with: "Friday"), to: "edited.srt")
    let edit = try place.spool(["words", "edit", sound, "--from", path])
    #expect(edit.text.contains("corrected talk.wav: 2 places"), "\(edit.text) \(edit.errorOutput)")
    #expect(!edit.errorOutput.contains("other times"), "\(edit.errorOutput)")
    // The list of the words counts them likewise.
    let words = try place.spool(["words", "show", sound])
    #expect(
      (words.text + words.errorOutput).contains("; 2 places corrected, the last by "),
      "\(words.text) \(words.errorOutput)")
    let undone = try place.spool(["words", "undo", sound])
    #expect(undone.text.contains("none is left"), "\(undone.text)")
  }
}
