import Foundation
import PipelineModel
import Store
import TestSupport
import Testing

@Suite(
  "A run is gone on with, and nothing has to be said again",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct ResumeTests {
  private let place: Workspace
  private let note: String
  private let pipeline: String

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 40, rate: 22050, channels: 1)
    pipeline = try place.pipeline(Self.text)
  }

  private static let text = """
    pipeline: long
    inputs: { note: sound }
    vars: { peak: -3 dB }
    stages:
      - decode
      - normalize: { peak: $peak }
      - export: [wav, flac]
    """

  /// Starts a run with an override and ends it by a signal.
  private func interrupted(by signal: Int32) throws -> SpoolRun {
    let running = try place.start(pipeline, [note], ["--set", "peak=-7 dB"])
    try #require(try running.waits(for: "\"progress\""))
    running.send(signal)
    return try running.end().run
  }

  /// The exports of a run with the same override that nothing disturbed.
  private func undisturbed() throws -> [String: Data] {
    let other = try Workspace()
    let run = try other.run(
      try other.pipeline(Self.text), [note], ["--set", "peak=-7 dB"])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    return try other.allExports()
  }

  @Test("the receipt of a run that goes on is signed with the keys that the run was given")
  func keys() throws {
    let signed = try place.pipeline(Self.text + "\n  - proof\n", named: "signed.yaml")
    let keys = place.file("own keys")
    let running = try place.start(signed, [note], ["--keys", "own keys"])
    try #require(try running.waits(for: "\"progress\""))
    running.send(SIGKILL)
    _ = try running.end()
    // Where the run is gone on with, other keys are usual, and the folder is another one.
    let resumed = try #require(Program(named: "sh")).run(
      ["-c", "cd / && exec '\(SpoolProgram.program.path)' resume"], environment: place.environment,
      folder: place.folder.path)
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(try place.spool(["verify", place.out, "--keys", keys]).exitCode == 0)
    #expect(!FileManager.default.fileExists(atPath: place.keys))
  }

  @Test("it goes on inside its stages also where another run has made the first of them since")
  func madeMeanwhile() throws {
    let stopped = try interrupted(by: SIGTERM)
    #expect(stopped.exitCode == 143, "\(stopped.errorOutput)")
    let other = try place.pipeline(
      "pipeline: other\nstages: [decode, measure]\n", named: "other.yaml")
    let between = try place.spool(["run", other, note, "-q"])
    #expect(between.exitCode == 0, "\(between.errorOutput)")
    let resumed = try place.spool(["resume"])
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(
      !resumed.text.contains("Beginning anew") && resumed.text.contains("Going on with"),
      "\(resumed.text)")
    #expect(try place.allExports() == undisturbed())
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test(
    "where the database was lost and no backup knows of the work, that is said, and it begins anew")
  func lostDatabase() throws {
    let stopped = try interrupted(by: SIGKILL)
    #expect(stopped.exitCode != 0)
    for name in Workspace.names(in: place.store) where name.hasPrefix("spool.sqlite") {
      try FileManager.default.removeItem(atPath: place.store + "/" + name)
    }
    let resumed = try place.spool(["resume"])
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(resumed.errorOutput.contains("the store's database was lost"))
    #expect(resumed.text.contains("Beginning anew with "), "\(resumed.text)")
    #expect(resumed.text.contains("or no notes are left"), "\(resumed.text)")
    #expect(try place.allExports() == undisturbed())
  }

  @Test(
    "why tells what was being worked on from what was not reached",
    arguments: [(SIGKILL, "cut off"), (SIGINT, "stopped")])
  func whyItEnded(signal: Int32, word: String) throws {
    _ = try interrupted(by: signal)
    let why = try place.spool(["why", "last"])
    let begun = why.text.split(separator: "\n").filter {
      $0.hasSuffix("being worked on when the run was \(word)")
    }
    #expect(begun.contains { $0.contains("  decode ") }, "\(why.text)")
    #expect(why.text.contains("not reached"), "\(why.text)")
    #expect(begun.allSatisfy { !$0.contains("  export ") }, "\(why.text)")
  }

  @Test("why says where in the recording a stage went on, and with which run's work")
  func whyItWentOn() throws {
    try FileManager.default.removeItem(atPath: note)
    // 400 s; to repeat 20 of them is ten times as fast as to make all.
    try Reference.record(
      note, seconds: 20, rate: 48_000, coding: ["-af", "aloop=loop=19:size=960000"])
    let running = try place.start(pipeline, [note])
    try #require(try running.waits(for: "\"progress\"", times: 40))
    running.send(SIGINT)
    let stopped = try running.end().run
    try #require(stopped.exitCode == 130)
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    let why = try place.spool(["why", "last"])
    let earlier = try #require(stopped.record?.id)
    #expect(
      why.text.contains("went on with what run \(earlier) had left, at "), "\(why.text)")
  }

  @Test("an interrupted run goes on as it was told, although the pipeline's file is another now")
  func interrupted() throws {
    let stopped = try interrupted(by: SIGINT)
    #expect(stopped.exitCode == 130)
    let earlier = try #require(stopped.record)
    #expect(stopped.errorOutput.contains("what was noted is kept"))
    #expect(stopped.errorOutput.contains("spool resume \(earlier.id)"))
    #expect(stopped.errorOutput.split(separator: "\n").count == 1, "\(stopped.errorOutput)")

    _ = try place.pipeline("pipeline: other\ninputs: {}\nstages: []\n")
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(resumed.errorOutput.contains("pipeline.yaml has changed"))
    #expect(resumed.record?.resumes == earlier.id)
    #expect(try place.allExports() == undisturbed())
    // The earlier run stays what it was, and there is nothing left to do.
    #expect(try place.spool(["runs", "show", earlier.id]).text.contains("interrupted"))
    let idle = try place.spool(["resume"])
    #expect(idle.exitCode == 0)
    #expect(idle.text.contains("nothing to go on with"))
  }

  @Test("a killed run goes on, although the pipeline's file is gone")
  func killed() throws {
    #expect(try interrupted(by: SIGKILL).exitCode == 128 + SIGKILL)
    try FileManager.default.removeItem(atPath: pipeline)
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(resumed.errorOutput == "")
    #expect(try place.allExports() == undisturbed())
  }

  @Test("a failed run goes on once its cause is gone")
  func failed() throws {
    // Where the work is done already, the bytes decide whether the file there is the export.
    try #require(
      try place.run(pipeline, [note], ["--out", place.file("other")]).exitCode == 0)
    try FileManager.default.createDirectory(atPath: place.out, withIntermediateDirectories: false)
    try place.folder.write("mine", to: "out/note.wav")
    let failed = try place.run(pipeline, [note])
    #expect(failed.exitCode == 1)
    try FileManager.default.removeItem(atPath: place.out + "/note.wav")
    let resumed = try place.resume(failed.record?.id)
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(resumed.made == [], "what was done was done again")
    #expect(place.exports == ["note.flac", "note.wav"])
  }

  @Test("no such run, a run that is done and a recording that is gone are errors that say so")
  func errors() throws {
    #expect(try place.spool(["resume"]).errorOutput.contains("there is no store at"))
    #expect(!FileManager.default.fileExists(atPath: place.store), "looking made a store")
    let broken = try place.folder.write("no sound", to: "broken.wav")
    try #require(try place.spool(["run", pipeline, broken]).exitCode == 1)
    let unknown = try place.spool(["resume", "1999"])
    #expect(unknown.exitCode == 2)
    #expect(unknown.errorOutput.contains("no run \"1999\""))

    let id = try #require(try interrupted(by: SIGTERM).record?.id)
    try FileManager.default.moveItem(atPath: note, toPath: note + ".away")
    let gone = try place.spool(["resume"])
    #expect(gone.exitCode == 1)
    let complaint = try #require(Complaint(gone.errorOutput), "\(gone.errorOutput)")
    #expect(complaint.what.contains(note) && complaint.what.contains("gone"))
    try FileManager.default.moveItem(atPath: note + ".away", toPath: note)

    let done = try #require(try place.resume(id).record)
    #expect(done.state == "done")
    let again = try place.spool(["resume", done.id])
    #expect(again.exitCode == 2)
    #expect(again.errorOutput.contains("is done"), "\(again.errorOutput)")
  }

  @Test("a recording that has changed since is said to have")
  func changedRecording() throws {
    try #require(try interrupted(by: SIGINT).exitCode == 130)
    try Reference.record(note, seconds: 2)
    let resumed = try place.resume()
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(resumed.errorOutput.contains("\(note) has changed"), "\(resumed.errorOutput)")
    #expect(resumed.warnings.contains { $0.contains("has changed") })
    let anew = resumed.events.filter { $0.event == "began-anew" }
    #expect(anew.allSatisfy { $0.cause == "recording-changed" && $0.part == note })
    #expect(anew.allSatisfy { $0.lostSeconds ?? 0 > 0 }, "\(anew)")
    #expect(!anew.isEmpty)
    #expect(try SoundFacts(of: place.out + "/note.wav").frames == 88200)
  }

  /// Expects that whatever tells of a run says of a recording that is gone what `resume` says, and that
  /// nothing tells to type what cannot work.
  private func expectSameWords(_ complaint: Complaint, _ id: String) throws {
    for words in [["runs"], ["status"], ["runs", "show", id]] {
      let result = try place.spool(words)
      let told = result.text + result.errorOutput
      #expect(told.contains(complaint.what) && told.contains(complaint.next), "\(told)")
      #expect(!told.contains("next:  spool resume") && !told.contains("; spool resume"), "\(told)")
    }
  }

  @Test("where the recording was renamed, the run is told what to do about it, and can be given up")
  func renamedRecording() throws {
    let earlier = try #require(try interrupted(by: SIGINT).record)
    let renamed = place.file("renamed.wav")
    try FileManager.default.moveItem(atPath: note, toPath: renamed)
    let gone = try #require(Complaint(try place.spool(["resume"]).errorOutput))
    #expect(gone.what == "the note of run \(earlier.id) is gone: \(note)")
    #expect(gone.next.hasPrefix("put it back there, and spool resume \(earlier.id) goes on; or "))
    #expect(gone.next.contains("where it is now"))
    #expect(gone.next.hasSuffix("spool runs forget \(earlier.id) gives the run up"))
    try expectSameWords(gone, earlier.id)

    let again = try place.run(pipeline, [renamed], ["--set", "peak=-7 dB"])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    let settled = try place.spool(["resume"])
    let complaint = try #require(Complaint(settled.errorOutput), "\(settled.errorOutput)")
    #expect(complaint.why.contains("has done the same recording as \(renamed)"))
    #expect(complaint.next.hasPrefix("spool runs forget \(earlier.id)"))
    try expectSameWords(complaint, earlier.id)
    #expect(try place.spool(["runs", "forget", earlier.id]).exitCode == 0)
    #expect(try place.spool(["resume"]).text.contains("nothing to go on with"))
    #expect(try place.spool(["runs"]).errorOutput == "")
  }

  @Test("without a name, a run whose recording is gone does not keep an older one from going on")
  func goneBeforeAnother() throws {
    let first = try #require(try interrupted(by: SIGINT).record)
    let other = place.file("other.wav")
    try Reference.record(other, seconds: 40, rate: 22050, channels: 1)
    let running = try place.start(pipeline, [other])
    try #require(try running.waits(for: "\"progress\""))
    running.send(SIGINT)
    let second = try #require(try running.end().run.record)
    try FileManager.default.moveItem(atPath: other, toPath: other + ".away")
    let listed = try place.spool(["runs"]).errorOutput
    #expect(listed.contains("is gone: \(other)"), "\(listed)")
    #expect(listed.contains("next:  spool resume \(first.id)"), "\(listed)")
    let resumed = try place.spool(["resume"])
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(resumed.text.contains("goes on with run \(first.id)"), "\(resumed.text)")
    #expect(
      resumed.errorOutput.contains("note: the note of run \(second.id) is gone: \(other)"),
      "\(resumed.errorOutput)")
    #expect(try place.allExports() == undisturbed())
  }

  @Test("the same run typed again leaves nothing to go on with")
  func typedAgain() throws {
    try #require(try interrupted(by: SIGINT).exitCode == 130)
    try #require(try place.run(pipeline, [note], ["--set", "peak=-7 dB"]).exitCode == 0)
    #expect(try place.spool(["resume"]).text.contains("nothing to go on with"))
  }

  @Test("a stopped run does not put its exports in the place of later ones unasked")
  func outdated() throws {
    _ = try interrupted(by: SIGKILL)
    let listed = try place.spool(["runs", "list", "--json"]).text
    let earlier = String(try #require(listed.firstMatch(of: /"id":"([^"]+)"/)).output.1)
    try #require(try place.run(pipeline, [note], ["--set", "peak=-3 dB"]).exitCode == 0)
    let later = try place.allExports()
    for words in [["status"], ["runs"], ["runs", "show", earlier]] {
      let told = try place.spool(words)
      #expect(!(told.text + told.errorOutput).contains("spool resume"), "\(told.text)")
    }
    #expect(try place.spool(["resume"]).text.contains("nothing to go on with"))
    let refused = try place.spool(["resume", earlier])
    let complaint = try #require(Complaint(refused.errorOutput), "\(refused.errorOutput)")
    #expect(refused.exitCode == 2)
    #expect(complaint.what == "the run \(earlier) is out of date")
    #expect(complaint.next.contains("--replace"), "\(complaint)")
    #expect(try place.allExports() == later)
    let asked = try place.spool(["resume", earlier, "--replace"])
    #expect(asked.exitCode == 0, "\(asked.errorOutput)")
    #expect(try place.allExports() == undisturbed())
  }

  @Test("a run from before requests were recorded goes on with the pipeline's file")
  func oldRecord() throws {
    do {
      let store = try DiskStore(at: place.store)
      var record = RunRecord(
        id: RunID("20251121-142205-3f9a"), pipeline: "long", pipelinePath: pipeline,
        inputs: ["note": note], overrides: ["peak": "-7 dB"], startedAt: 1_764_000_000)
      record.state = .cutOff
      try store.runs.save(record)
    }
    let listed = try place.spool(["runs"])
    #expect(listed.text.contains("cut off"), "\(listed.text)")
    #expect(listed.errorOutput.contains("spool resume 20251121-142205-3f9a"))
    let shown = try place.spool(["runs", "show", "last"])
    #expect(shown.text.contains("cut off; spool resume 20251121-142205-3f9a"), "\(shown.text)")
    let resumed = try place.resume("2025")
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    let exports = place.file("exports/")
    #expect(Workspace.names(in: exports) == ["note.flac", "note.wav"])
    #expect(
      try Data(contentsOf: URL(fileURLWithPath: exports + "note.wav")) == undisturbed()["note.wav"])
  }

  @Test(
    "where a run would fail again, nothing offers to resume it, and resume does not try",
    arguments: ["", "this is no sound at all"])
  func permanent(content: String) throws {
    try place.folder.write(content, to: "bad.wav")
    let failed = try place.run(pipeline, [place.file("bad.wav")])
    #expect(failed.exitCode == 1)
    func runs() throws -> Int {
      try place.spool(["runs", "list", "--json"]).text.split(separator: "\n").count
    }
    let count = try runs()
    #expect(count == 1)
    for command in [["runs"], ["status"], ["runs", "show", try #require(failed.record?.id)]] {
      let text = try place.spool(command)
      #expect(!(text.text + text.errorOutput).contains("spool resume"), "\(text.text)")
    }
    #expect(try place.spool(["status", "--check"]).exitCode == 0, "nothing was begun")
    let idle = try place.spool(["resume"])
    #expect(idle.exitCode == 0 && idle.text.hasPrefix("nothing to go on with: "), "\(idle.text)")
    #expect(try runs() == count)
  }
}
