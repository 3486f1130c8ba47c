import Foundation
import TestSupport
import Testing

@Suite(
  "An export is replaced only by one of the same recording, and a refusal leaves the whole set",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ExportOwnerTests {
  private let place: Workspace
  private let note: String

  init() throws {
    place = try Workspace()
    note = place.file("note.flac")
    try Reference.record(note, seconds: 2)
  }

  private func pipeline(_ gain: String = "0 dB", proof: String = "") throws -> String {
    try place.pipeline(
      """
      pipeline: two
      inputs: { note: sound }
      stages: [decode, { gain: \(gain) }, { export: [wav, flac] }\(proof)]
      """, named: "two.yaml")
  }

  /// Writes other tags into the note; its samples stay.
  private func retag(_ title: String) throws {
    let tagged = place.file("tagged.flac")
    try Reference.ffmpeg(["-y", "-i", note, "-c", "copy", "-metadata", "title=\(title)", tagged])
    try FileManager.default.removeItem(atPath: note)
    try FileManager.default.moveItem(atPath: tagged, toPath: note)
  }

  @Test("no figures take the place of a sidecar that the user wrote, not even with --replace")
  func sidecar() throws {
    let sidecar = place.file("note.json")
    let text = #"{"chapters":[{"start":0,"title":"Hello"}]}"#
    try place.folder.write(text, to: "note.json")
    let pipeline = try place.pipeline(
      """
      pipeline: figures
      stages: [decode, { measure: { write: true, name: "{stem}" } }]
      """)
    let beside = ["run", pipeline, note, "--out", place.folder.path]
    for options in [[], ["--replace"]] {
      let run = try place.spool(beside + options)
      #expect(run.exitCode == 1)
      #expect(
        run.errorOutput.contains("\(sidecar) is the sidecar of a recording"), "\(run.errorOutput)")
      #expect(try String(contentsOfFile: sidecar, encoding: .utf8) == text)
    }
    // What Spool wrote there itself is replaced.
    try FileManager.default.removeItem(atPath: sidecar)
    for _ in 0..<2 { #expect(try place.spool(beside + ["--replace"]).exitCode == 0) }
  }

  @Test("new tags make no other recording, with a receipt or without", arguments: ["", ", proof"])
  func retagged(proof: String) throws {
    #expect(try place.run(try pipeline(proof: proof), [note]).exitCode == 0)
    for title in ["first", "second"] {
      try retag(title)
      let run = try place.run(try pipeline(proof: proof), [note])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
    }
    let louder = try place.run(try pipeline("-1 dB", proof: proof), [note])
    #expect(louder.exitCode == 0, "\(louder.errorOutput)")
    if !proof.isEmpty { #expect(try place.spool(["verify", "out"]).exitCode == 0) }
  }

  @Test(
    "an intro with new tags or in another container is the same, where the talk alone is decoded",
    arguments: ["concat", "mixdown"])
  func retaggedPart(kind: String) throws {
    let path = try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound, talk: sound }
      stages:
        - decode: { from: $talk }
        - \(kind): { from: [$intro, decode] }
        - export: { formats: [mp3], recording: $talk }
      """)
    func run(_ intro: String) throws -> Int32 {
      try place.run(path, ["intro=\(place.file(intro))", "talk=\(note)"]).exitCode
    }
    try Reference.record(place.file("a.wav"), seconds: 1)
    try Reference.ffmpeg([
      "-i", place.file("a.wav"), "-c", "copy", "-metadata", "title=Hello", place.file("b.wav"),
    ])
    try Reference.ffmpeg(["-i", place.file("a.wav"), place.file("c.flac")])
    try Reference.ffmpeg(["-i", place.file("a.wav"), "-af", "volume=-2dB", place.file("d.wav")])
    for intro in ["a.wav", "b.wav", "c.flac"] { #expect(try run(intro) == 0, "\(intro)") }
    #expect(try run("d.wav") == 1)
  }

  @Test(
    "one with other times and the very bytes that were written is the program's, and no other one")
  func restored() throws {
    let path = place.out + "/note.wav"
    func putBack(_ bytes: Data) throws {
      try FileManager.default.removeItem(atPath: path)
      try bytes.write(to: URL(filePath: path))
    }
    try retag("first")
    #expect(try place.run(try pipeline(), [note]).exitCode == 0)
    let first = try place.export("note.wav")
    try putBack(first)
    let louder = try place.run(try pipeline("-1 dB"), [note])
    #expect(louder.exitCode == 0, "\(louder.errorOutput)")
    let second = try place.export("note.wav")
    #expect(first != second && first.count == second.count)
    // An earlier version is not taken for the last.
    try putBack(first)
    #expect(try place.run(try pipeline("-1 dB"), [note]).exitCode == 0)
    #expect(try place.export("note.wav") == second)

    var edited = second
    edited[edited.count / 2] ^= 1
    try putBack(edited)
    let refused = try place.run(try pipeline("-2 dB"), [note])
    #expect(refused.exitCode == 1)
    #expect(refused.complaint?.why.contains("which was changed since") == true)
    #expect(try place.export("note.wav") == edited)
  }

  @Test("a new take of a track is another recording, and refused before the mix is encoded")
  func newTake() throws {
    try Reference.record(place.file("other.wav"), seconds: 2)
    let pipeline = try place.pipeline(
      """
      pipeline: band
      inputs: { a: sound, b: sound }
      stages:
        - decode: { from: $a }
          id: da
        - decode: { from: $b }
          id: db
        - mixdown: { from: [da, db] }
        - export: { formats: [flac, m4a], name: song }
        - mixdown: { from: [da, db], stems: true }
        - split: { by: channel, width: 2, name: "stem-{piece}" }
      """, named: "band.yaml")
    let inputs = ["a=\(note)", "b=\(place.file("other.wav"))"]
    #expect(try place.run(pipeline, inputs).exitCode == 0)
    let before = try Workspace.listing(of: place.out)
    try Reference.record(place.file("other.wav"), seconds: 1.5)
    let refused = try place.run(pipeline, inputs)
    #expect(refused.exitCode == 1)
    #expect(refused.complaint?.what.contains("was made of another recording") == true)
    let done = refused.events.filter { $0.event == "finished" }.compactMap(\.step)
    #expect(done == ["db", "mixdown"], "\(done)")
    #expect(try Workspace.listing(of: place.out) == before)
  }

  @Test("other sound under the same path is another recording, and refused before any work")
  func samePath() throws {
    #expect(try place.run(try pipeline(), [note]).exitCode == 0)
    let before = try Workspace.listing(of: place.out)
    try FileManager.default.removeItem(atPath: note)
    try Reference.record(note, seconds: 9)
    let refused = try place.run(try pipeline(), [note])
    #expect(refused.exitCode == 1)
    let complaint = try #require(refused.complaint, "\(refused.errorOutput)")
    #expect(complaint.what.contains("was made of another recording"), "\(complaint)")
    #expect(complaint.why.contains("held before"), "\(complaint)")
    #expect(complaint.why.contains("no file was replaced"), "\(complaint)")
    for word in ["--out", "rename note.flac", "--replace"] {
      #expect(complaint.next.contains(word), "\(complaint)")
    }
    #expect(refused.made == [], "work was done in vain")
    #expect(try Workspace.listing(of: place.out) == before)
    let plan = try place.spool(["pipeline", "plan", "two.yaml", note, "--out", place.out])
    #expect(plan.text.contains("would be refused: export: "), "\(plan.text)")
    #expect(try place.run(try pipeline(), [note], ["--replace"]).exitCode == 0)
  }

  @Test("all files that are in the way are named, and once they are moved the run goes on")
  func inTheWay() throws {
    let show = try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound, talk: sound }
      stages:
        - concat: { from: [$intro, $talk] }
        - export: { formats: [wav, flac], recording: $talk }
      """, named: "show.yaml")
    let intro = place.file("intro.wav")
    try Reference.record(intro, seconds: 2)
    #expect(try place.run(show, [intro, note]).exitCode == 0)
    try FileManager.default.removeItem(atPath: intro)
    try Reference.record(intro, seconds: 3)
    #expect(try place.run(show, [intro, note]).exitCode == 1)
    let status = try place.spool(["status"]).text
    let names = place.exports
    #expect(names.count == 2 && names.allSatisfy { status.contains("/\($0)") }, "\(status)")
    #expect(status.contains("move what is in the way elsewhere"), "\(status)")
    for name in names { try FileManager.default.removeItem(atPath: place.out + "/" + name) }
    #expect(try place.spool(["resume", "last"]).exitCode == 0)
    #expect(place.exports == names)
  }

  @Test("where decoding decides whether the sound is another, a plan says what may be refused")
  func undecided() throws {
    #expect(try place.run(try pipeline(), [note]).exitCode == 0)
    let quieter = place.file("quieter.flac")
    try Reference.ffmpeg(["-i", note, "-af", "volume=-2dB", quieter])
    try FileManager.default.removeItem(atPath: note)
    try FileManager.default.moveItem(atPath: quieter, toPath: note)
    let words = ["pipeline", "plan", "two.yaml", note, "--out", place.out]
    let before = try place.spool(words)
    #expect(before.text.contains("It may be refused, which is known when"), "\(before.text)")
    #expect(before.text.contains("was made of another recording"), "\(before.text)")
    #expect(try place.spool(words + ["--json"]).text.contains(#""certain":false"#))
    #expect(try place.run(try pipeline(), [note]).exitCode == 1)
    #expect(try place.spool(words).text.contains("It would be refused: export: "))
    #expect(try place.spool(words + ["--json"]).text.contains(#""certain":true"#))
  }

  @Test("the talk behind the same intro is another recording")
  func sameIntro() throws {
    let show = try place.pipeline(
      """
      pipeline: show
      inputs: { intro: sound, talk: sound }
      stages:
        - concat: { from: [$intro, $talk] }
        - export: [wav]
      """, named: "show.yaml")
    let (first, second) = (place.file("t42.wav"), place.file("t43.wav"))
    try Reference.record(first, seconds: 3)
    try Reference.record(second, seconds: 4)
    #expect(try place.run(show, [note, first]).exitCode == 0)
    let before = try Workspace.listing(of: place.out)
    let refused = try place.run(show, [note, second])
    #expect(refused.exitCode == 1)
    let complaint = try #require(refused.complaint, "\(refused.errorOutput)")
    #expect(complaint.why.contains("t42.wav") && complaint.why.contains("t43.wav"), "\(complaint)")
    #expect(!complaint.why.contains("note.flac"), "\(complaint)")
    #expect(complaint.next.contains("rename note.flac, after which it is named"), "\(complaint)")
    #expect(try Workspace.listing(of: place.out) == before)
    #expect(try place.run(show, [note, first]).exitCode == 0)
  }

  @Test(
    "what Spool wrote is its own where the folder was moved or copied to",
    arguments: ["moved", "copied"])
  func moved(_ way: String) throws {
    let (old, new) = (place.file("project"), place.file("elsewhere"))
    let note = old + "/note.flac"
    try FileManager.default.createDirectory(atPath: old, withIntermediateDirectories: true)
    try FileManager.default.moveItem(atPath: self.note, toPath: note)
    #expect(try place.run(try pipeline(), [note], ["--out", old + "/out"]).exitCode == 0)
    if way == "moved" {
      try FileManager.default.moveItem(atPath: old, toPath: new)
    } else {
      try FileManager.default.copyItem(atPath: old, toPath: new)
    }
    let (moved, out) = (new + "/note.flac", ["--out", new + "/out"])
    let louder = try place.run(try pipeline("-1 dB"), [moved], out)
    #expect(louder.exitCode == 0, "\(louder.errorOutput)")
    // Another program's file is not.
    try place.folder.write("edited by hand", to: "elsewhere/out/note.wav")
    #expect(try place.run(try pipeline("-2 dB"), [moved], out).exitCode == 1)
    // Nor is a copy that a run took in as a recording.
    try FileManager.default.removeItem(atPath: new + "/out/note.wav")
    try FileManager.default.moveItem(
      atPath: new + "/out/note.flac", toPath: place.file("kept.flac"))
    let kept = place.file("kept.flac")
    #expect(try place.run(try pipeline(), [kept], ["--out", place.file("third")]).exitCode == 0)
    let onto = try place.pipeline(
      """
      pipeline: two
      inputs: { note: sound }
      stages: [decode, { gain: -3 dB }, { export: { formats: [flac], name: kept } }]
      """)
    let refused = try place.run(onto, [moved], ["--out", place.folder.path, "--replace"])
    #expect(refused.exitCode == 1, "a recording was replaced")
  }

  @Test("one file that may not be replaced leaves the others as they are, and the plan foresees it")
  func mixedSet() throws {
    #expect(try place.run(try pipeline(), [note]).exitCode == 0)
    try place.folder.write("edited by hand", to: "out/note.flac")
    let before = try Workspace.listing(of: place.out)
    let plan = try place.spool(["pipeline", "plan", try pipeline("-3 dB"), note, "--out", "out"])
    #expect(plan.text.contains("note.flac"), "\(plan.text)")
    let refused = try place.run(try pipeline("-3 dB"), [note])
    #expect(refused.exitCode == 1)
    #expect(refused.complaint?.what.contains("out/note.flac") == true, "\(refused.errorOutput)")
    #expect(refused.made == [], "work was done in vain")
    #expect(try Workspace.listing(of: place.out) == before)
    // What is done already and is only to be published leaves the set, too.
    #expect(try place.run(try pipeline("-3 dB"), [note], ["--out", place.file("b")]).exitCode == 0)
    let again = try place.run(try pipeline("-3 dB"), [note])
    #expect(again.exitCode == 1)
    #expect(again.complaint?.why.contains("no file was replaced") == true, "\(again.errorOutput)")
    #expect(try Workspace.listing(of: place.out) == before)
  }

  @Test(
    "another program's file is refused before any work, though the store knows nothing of it",
    arguments: ["wav", "flac", "m4a", "alac.m4a", "mp3", "opus", "ogg"], ["text", "sound"])
  func foreign(ending: String, content: String) throws {
    let format = ending == "alac.m4a" ? "alac" : ending
    let pipeline = try place.pipeline(
      "pipeline: one\ninputs: { note: sound }\nstages: [decode, { export: [\(format)] }]\n")
    let path = place.out + "/note.\(ending)"
    try FileManager.default.createDirectory(atPath: place.out, withIntermediateDirectories: true)
    if content == "text" {
      try place.folder.write("my own", to: "out/note.\(ending)")
    } else if ending == "wav" {
      try Reference.record(path, seconds: 1)
    } else {
      // What another store has written is told by its bytes, when they are known.
      #expect(try place.run(pipeline, [note], ["--store", place.file("other")]).exitCode == 0)
      let copied = try place.run(pipeline, [note])
      #expect(copied.exitCode == 0 && !copied.made.isEmpty, "\(copied.errorOutput)")
      return
    }
    let before = try Workspace.listing(of: place.out)
    let plan = try place.spool(["pipeline", "plan", pipeline, note, "--out", "out"])
    #expect(plan.text.contains("note.\(ending)"), "\(plan.text)")
    let refused = try place.run(pipeline, [note])
    #expect(refused.exitCode == 1)
    #expect(
      refused.complaint?.what.contains("out/note.\(ending)") == true, "\(refused.errorOutput)")
    #expect(refused.made == [], "work was done in vain")
    #expect(try Workspace.listing(of: place.out) == before)
  }

  @Test(
    "exports that a lost store has written are known by their bytes, in every form of WAV",
    arguments: ["", ", bext: false", ", bext: false, tags: false", ", wav: { bits: 16 }"])
  func lostStore(options: String) throws {
    let pipeline = try place.pipeline(
      "pipeline: one\ninputs: { note: sound }\n"
        + "stages: [decode, { export: { formats: [wav]\(options) } }]\n")
    #expect(try place.run(pipeline, [note], ["--store", place.file("other")]).exitCode == 0)
    let before = try place.allExports()
    let again = try place.run(pipeline, [note])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(try place.allExports() == before)
  }

  @Test("no command writes over a recording, not even with --replace")
  func recordingItself() throws {
    #expect(try place.run(try pipeline(), [note]).exitCode == 0)
    let before = try Data(contentsOf: URL(fileURLWithPath: note))
    let backup = try place.spool(["store", "backup", note, "--replace"])
    #expect(backup.exitCode == 1)
    #expect(backup.errorOutput.contains("never writes over"), "\(backup.errorOutput)")
    // Exports of another recording that would take its place.
    let other = place.file("b/note.wav")
    try FileManager.default.createDirectory(
      atPath: place.file("b"), withIntermediateDirectories: false)
    try Reference.record(other, seconds: 1)
    let run = try place.run(try pipeline(), [other], ["--out", place.folder.path, "--replace"])
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("never writes over"), "\(run.errorOutput)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: note)) == before)
  }

  @Test("of processes that do the same at once, the later ones find the receipt of the first")
  func atOnce() throws {
    let pipeline = try pipeline(proof: ", proof")
    let running = try (0..<3).map { _ in try place.start(pipeline, [note]) }
    for process in running {
      let run = try process.end().run
      #expect(run.exitCode == 0, "\(run.errorOutput)")
    }
    #expect(try place.spool(["verify", "out"]).exitCode == 0)
    let head = try place.spool(["proof", "ledger", "head"])
    #expect(head.text.hasPrefix("receipts  1\n"), "\(head.text)")
  }

  @Test("in a batch, other sound under a used name is refused for that recording alone")
  func batch() throws {
    let folder = try BatchFolder()
    for (name, number) in [("a.wav", 1), ("b.wav", 2)] { try folder.putTiny(number, name) }
    let pipeline = try folder.pipeline()
    #expect(try folder.batch(pipeline).exitCode == 0)
    let before = try folder.place.export("a.wav")
    try folder.putTiny(9, "a.wav")
    try folder.putTiny(3, "c.wav")
    let outcome = try folder.batch(pipeline)
    #expect(outcome.exitCode != 0)
    #expect(outcome.outcomes["a.wav"] == "failed" && outcome.outcomes["c.wav"] == "done")
    let error = outcome.report?.file("a.wav")?.error
    #expect(error?.message.contains("made of another recording") == true, "\(outcome)")
    #expect(try folder.place.export("a.wav") == before)
  }

  @Test(
    "a batch whose disk is not mounted says so and stops, unless it is to take what is there",
    .enabled(if: SmallDisk.isPossible, "this user may not mount a disk"))
  func unmounted() throws {
    let folder = try BatchFolder()
    try folder.putTiny(1, "a.wav")
    let pipeline = try folder.pipeline()
    let disk = try SmallDisk(byteCount: 8 << 20)
    let path = disk.path
    func batch(_ options: [String] = []) throws -> Program.Result {
      try folder.place.spool(["batch", pipeline, folder.path, "--out", path] + options)
    }
    #expect(try batch().exitCode == 0)
    _ = try Reference.output("umount", [path])
    let stopped = try batch()
    #expect(stopped.exitCode == 1)
    #expect(stopped.errorOutput.contains("nothing is mounted on \(path)"), "\(stopped.errorOutput)")
    #expect(stopped.errorOutput.contains("--ignore-mounts"))
    #expect(Workspace.names(in: path) == [])
    #expect(try batch(["--ignore-mounts"]).exitCode == 0)
    #expect(try batch().exitCode == 0)
    withExtendedLifetime(disk) {}
  }
}
