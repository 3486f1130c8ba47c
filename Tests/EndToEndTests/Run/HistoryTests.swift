import Foundation
import PipelineModel
import Store
import TestSupport
import Testing

@Suite(
  "A run can be foreseen, followed and looked back at",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct HistoryTests {
  private let place: Workspace
  private let note: String
  private let pipeline: String

  init() throws {
    place = try Workspace()
    note = place.file("note.wav")
    try Reference.record(note, seconds: 1)
    pipeline = try place.quickPipeline()
  }

  @Test("plan makes no store, and changes none")
  func planChangesNothing() throws {
    // The stamp of a file that is younger than 2 s is not trusted: plan would be the first to
    // remember its digest.
    let note = PackageFiles.sample("session/click.flac")
    let before = try Workspace.listing(of: place.folder.path)
    let result = try place.spool(["pipeline", "plan", pipeline, note, "--out", place.out])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(try Workspace.listing(of: place.folder.path) == before)
    try #require(try place.run(pipeline, [note]).exitCode == 0)
    let after = try Workspace.listing(of: place.folder.path)
    let again = try place.spool(["pipeline", "plan", pipeline, note, "--out", place.out])
    #expect(again.exitCode == 0)
    #expect(again.text.contains("nothing to do"), "\(again.text)")
    #expect(try Workspace.listing(of: place.folder.path) == after)
  }

  @Test("plan tells the passes, what is reused, disk and time, and a run does just that")
  func plan() throws {
    let text = try place.spool(["pipeline", "plan", pipeline, note]).text
    for word in ["pass 1", "pass 2", "disk", "time", "decode", "export"] {
      #expect(text.contains(word), "\(word)\n\(text)")
    }
    func foreseen() throws -> Foreseen {
      let result = try place.spool(["pipeline", "plan", pipeline, note, "--json"])
      return try JSONDecoder().decode(Foreseen.self, from: result.output)
    }
    let first = try foreseen()
    #expect(first.reused == [])
    #expect(first.mediaSeconds == 1)
    let run = try place.run(pipeline, [note])
    let passes = run.events.filter { $0.event == "pass" }.map { Set($0.steps ?? []) }
    #expect(passes == first.passes.map { Set($0.steps) })
    // Within a factor of two, so that the refusal for want of room means something.
    let written = run.files.map(\.byteCount).reduce(0, +)
    #expect(first.exportBytes > written / 2 && first.exportBytes < written * 2)
    let second = try foreseen()
    #expect(second.passes.isEmpty)
    #expect(Set(second.reused) == ["decode", "eq", "normalize", "export"])
  }

  @Test("--json writes events and nothing else, and nothing on standard error")
  func json() throws {
    let run = try place.run(pipeline, [note])
    #expect(run.strayLines == [])
    #expect(run.errorOutput == "")
    #expect(run.events.first?.event == "started")
    #expect(run.events.last?.event == "ended")
    #expect(run.record?.published.count == 4)
  }

  @Test("--quiet is silent while all goes well")
  func quiet() throws {
    let result = try place.spool(["run", pipeline, note, "--out", place.out, "--quiet"])
    #expect(result.exitCode == 0)
    #expect(result.text == "")
    #expect(result.errorOutput == "")
  }

  @Test("a pipe gets plain lines: a line a step, the files, the time")
  func plain() throws {
    let result = try place.spool(
      ["run", pipeline, note, "--out", place.out], environment: ["TERM": "xterm-256color"])
    #expect(result.exitCode == 0)
    #expect(result.errorOutput == "")
    #expect(!result.text.contains("\u{1B}") && !result.text.contains("\r"))
    let lines = result.text.split(separator: "\n")
    for step in ["decode", "eq", "normalize", "export"] {
      #expect(lines.filter { $0.hasPrefix("  \(step) ") && $0.contains("done") }.count == 1)
    }
    for name in place.exports { #expect(result.text.contains(name)) }
    #expect(lines.last?.hasPrefix("done in") == true, "\(result.text)")
  }

  @Test("runs and show remember what was done, what was reused and what failed")
  func remembered() throws {
    for arguments in [
      ["runs"], ["resume"], ["runs", "show", "last"], ["why", "last"], ["store", "check"],
    ] {
      let absent = try place.spool(arguments)
      #expect(absent.exitCode == 1 && absent.text == "", "\(arguments)")
      #expect(absent.errorOutput.contains("there is no store at \(place.store)"), "\(arguments)")
    }
    #expect(!FileManager.default.fileExists(atPath: place.store), "looking made a store")
    _ = try DiskStore(at: place.store)
    for arguments in [["runs"], ["resume"]] {
      let empty = try place.spool(arguments)
      #expect(empty.exitCode == 0 && empty.text == "no run yet in \(place.store)\n")
    }
    for arguments in [["runs", "show", "last"], ["why", "last"]] {
      let empty = try place.spool(arguments)
      #expect(empty.exitCode == 2)
      #expect(empty.errorOutput.contains("no run yet in \(place.store)"), "\(arguments)")
    }
    let first = try #require(try place.run(pipeline, [note]).record)
    let second = try #require(try place.run(pipeline, [note]).record)
    // A recording that is not there begins no run.
    #expect(try place.run(pipeline, [place.file("absent.wav")]).exitCode == 2)

    let lines = try place.spool(["runs"]).text.split(separator: "\n")
    #expect(lines.count == 2)
    #expect(lines.last?.hasPrefix(first.id) == true && lines.last?.contains("note.wav") == true)

    for count in ["0", "100"] {
      #expect(try place.spool(["runs", "-n", count]).text.split(separator: "\n").count == 2)
    }
    #expect(try place.spool(["runs", "-n", "1"]).text.split(separator: "\n").count == 1)
    #expect(try place.spool(["runs", "--limit=-1"]).exitCode == 2)
    #expect(try place.spool(["runs"]).errorOutput.isEmpty)

    let shown = try place.spool(["runs", "show", second.id])
    #expect(shown.exitCode == 0)
    #expect(shown.text.contains("reused") && shown.text.contains(note))
    #expect(try place.spool(["runs", "show", "last"]).text.contains(second.id))
    let json = try place.spool(["runs", "show", first.id, "--json"])
    let record = try JSONDecoder().decode(SpoolEvent.Run.self, from: json.output)
    #expect(record.id == first.id)
    #expect(record.steps.allSatisfy { $0.outcome == "made" })
    let unknown = try place.spool(["runs", "show", "19990101"])
    #expect(unknown.exitCode == 2)
    #expect(unknown.errorOutput.contains("spool runs"), "\(unknown.errorOutput)")
  }

  private struct Foreseen: Decodable {
    struct Pass: Decodable {
      let steps: [String]
    }
    let passes: [Pass]
    let reused: [String]
    let mediaSeconds: Double?
    let exportBytes: Int
  }

  @Test("runs list shows the newest 20, and scripts get all")
  func allRuns() throws {
    let store = try DiskStore(at: place.store)
    for number in 1...25 {
      var run = RunRecord(
        id: RunID("r\(number)"), pipeline: "p", pipelinePath: "/p", inputs: ["a": "/a"],
        overrides: [:], startedAt: Double(number))
      run.state = .done
      try store.runs.save(run)
    }
    func count(_ options: [String]) throws -> Int {
      try place.spool(["runs", "list"] + options).text.split(separator: "\n").count
    }
    #expect(try count([]) == 20 && count(["--json"]) == 25)
    #expect(try count(["--json", "--limit", "3"]) == 3 && count(["--limit", "0"]) == 25)
  }

  @Test("the inputs of a run are shown in the pipeline's order, not in that of their paths")
  func inputOrder() throws {
    let pipeline = try place.pipeline(
      """
      pipeline: two
      inputs: { voice: sound, bed: sound }
      stages:
        - decode: { from: $voice }
          id: first
        - decode: { from: $bed }
          id: second
        - concat: { from: [first, second] }
        - export: [wav]
      """, named: "two.yaml")
    for name in ["z-voice.wav", "a-bed.wav"] { try Reference.record(place.file(name), seconds: 1) }
    let arguments = [pipeline, place.file("z-voice.wav"), place.file("a-bed.wav")]
    let run = try place.spool(["run"] + arguments + ["--out", place.out])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let head = try #require(run.text.split(separator: "\n").first)
    #expect(head.hasSuffix("/z-voice.wav, \(place.file("a-bed.wav"))"), "\(head)")
    #expect(try place.spool(["runs"]).text.contains("z-voice.wav, a-bed.wav"))
    let show = try place.spool(["runs", "show", "last"]).text
    let lines = show.split(separator: "\n").filter { $0.hasPrefix("input ") }
    #expect(lines.map { $0.contains("voice = ") } == [true, false], "\(show)")
  }

  @Test("the plan counts what concat takes from a step that is not done yet")
  func planOfJoined() throws {
    for name in ["a.wav", "b.wav"] {
      try Reference.record(place.file(name), seconds: 10, rate: 48_000)
    }
    let pipeline = try place.pipeline(
      """
      pipeline: joined
      inputs: { tracks: sound+, outro: sound }
      stages:
        - mixdown: { from: $tracks }
          id: talk
        - concat: { from: [talk, $outro] }
        - export: { formats: [wav], name: joined }
      """)
    let (a, b) = (place.file("a.wav"), place.file("b.wav"))
    let plan = try place.spool([
      "pipeline", "plan", pipeline, "tracks=\(a)", "outro=\(b)", "--out", place.out, "--json",
    ])
    #expect(plan.exitCode == 0, "\(plan.errorOutput)")
    let line = try #require(
      JSONSerialization.jsonObject(with: Data(plan.text.utf8)) as? [String: Any])
    let run = try place.run(pipeline, ["tracks=\(a)", "outro=\(b)"])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let written = try place.export("joined.wav").count
    let planned = try #require(line["exportBytes"] as? Int)
    #expect(planned >= written && planned < written + 20_000)
    // The mix is kept as floats besides.
    #expect(try #require(line["storeBytes"] as? Int) >= written + 10 * 48_000 * 2 * 4)
  }

  @Test("a start that is refused is in the list of runs, and no failed run")
  func refusedStarts() throws {
    try place.folder.write("", to: "zero.m4a")
    try place.folder.write("no sound", to: "text.wav")
    for name in ["zero.m4a", "text.wav"] {
      #expect(try place.run(pipeline, [place.file(name)]).record?.state == "refused", "\(name)")
    }
    try #require(try place.run(pipeline, [note]).exitCode == 0)
    let namesake = try place.pipeline(
      """
      pipeline: namesake
      inputs: { note: sound }
      stages: [decode, { gain: -3 dB }, { export: [wav] }]
      """, named: "namesake.yaml")
    let refused = try place.run(namesake, [note])
    #expect(refused.exitCode == 1 && refused.record?.state == "refused", "\(refused.errorOutput)")
    let status = try place.spool(["status", "--check"])
    #expect(status.exitCode == 0, "\(status.text)")
    #expect(
      try place.spool(["runs"]).text.split(separator: "\n").count { $0.contains("refused") } == 3)
  }

  @Test("what a batch cannot take is named by status")
  func refusedInBatch() throws {
    try FileManager.default.createDirectory(
      atPath: place.file("in"), withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: note, toPath: place.file("in/note.wav"))
    try place.folder.write("no sound", to: "in/text.wav")
    #expect(try place.spool(["batch", pipeline, "in"]).exitCode == 3)
    let status = try place.spool(["status", "--check"])
    #expect(status.exitCode == 1 && status.text.contains("text.wav"), "\(status.text)")
  }
}
