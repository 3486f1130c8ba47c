import Foundation
import TestSupport
import Testing

@Suite("A batch does what it can, says what it could not, and does nothing twice")
struct BatchTests {
  private let folder: BatchFolder

  init() throws { folder = try BatchFolder() }

  @Test(
    "no recording's export takes the place of another one's, whatever is replaced",
    arguments: [[], ["--replace"]])
  func fixedName(options: [String]) throws {
    let folder = try BatchFolder()
    for number in 1...3 { try folder.putTiny(number, "\(number).wav") }
    let pipeline = try folder.place.pipeline(
      """
      pipeline: fixed
      inputs: { note: sound }
      stages:
        - decode
        - export: { formats: [wav], name: n }
      """)
    for _ in 0..<2 {
      let batch = try folder.batch(pipeline, options)
      #expect(batch.exitCode == 3 && batch.report?.failed == 2, "\(batch.errorOutput)")
      let owners = batch.report?.files.filter { $0.outcome != "failed" } ?? []
      #expect(owners.count == 1 && owners.first?.exports?.map(\.path) == ["n.wav"])
      for file in batch.report?.files ?? [] where file.outcome == "failed" {
        #expect(
          file.error?.message.hasSuffix("n.wav is an export of \(owners[0].path) in this batch")
            == true, "\(file.error?.message ?? "")")
        #expect(file.error?.advice?.contains(#"name: "{stem}.fixed""#) == true)
      }
      // Each recording in a folder of its own has a place of its own.
      #expect(folder.place.exports.filter { $0.hasSuffix(".wav") } == ["n.wav"])
    }
    // What changed is made again, in its own place.
    let owner = try #require(try folder.report().files.first { $0.outcome != "failed" }?.path)
    try folder.putTiny(9, owner)
    Thread.sleep(forTimeInterval: 2.5)
    let again = try folder.batch(pipeline, ["--replace"])
    #expect(again.report?.failed == 2, "\(again.outcomes)")
  }

  @Test("one broken file among good ones: exit 3, and batch.json says which and why")
  func broken() throws {
    try folder.put(sample: "note-1.m4a", "trip/day 1/note-1.m4a")
    try folder.put(sample: "note-2.m4a", "note-2.m4a")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: PackageFiles.sample("take.flac")))
    try folder.put(Data("this is no sound at all".utf8), "bad.m4a")
    try folder.put(Data(), "empty.wav")
    try folder.put(bytes, "take.flac")
    let pipeline = try folder.pipeline(formats: "wav, m4a")
    let first = try folder.batch(pipeline)
    #expect(first.exitCode == 3, "\(first.errorOutput)")
    let report = try #require(first.report)
    #expect(report.done == 3 && report.reused == 0)
    #expect(report.failed == 2 && report.interrupted == 0)
    #expect(report.files.map(\.path) == report.files.map(\.path).sorted())
    let bad = try #require(report.file("bad.m4a"))
    #expect(bad.outcome == "failed" && bad.error?.reason != nil && bad.error?.advice != nil)
    #expect(report.file("empty.wav")?.error?.reason == "it is empty")
    let note = try #require(report.file("trip/day 1/note-1.m4a"))
    #expect(
      note.exports?.map(\.path) == ["trip/day 1/note-1.wav", "trip/day 1/note-1.m4a"])
    #expect(abs((note.levels?["normalize"]?.after?.samplePeak ?? 0) + 3) < 0.1)
    for export in report.files.flatMap({ $0.exports ?? [] }) {
      let facts = try FileManager.default.attributesOfItem(
        atPath: folder.place.out + "/" + export.path)
      #expect(facts[.size] as? Int == export.byteCount, "\(export.path)")
    }
    // One line for each that failed: file, what, why, what next.
    let lines = first.lines.filter { $0.contains("bad.m4a: ") }
    #expect(lines.count == 1 && lines[0].contains(" — help: "), "\(first.lines)")
    #expect(first.lines.contains { $0.hasPrefix("5 files") && $0.contains("free") })

    // Again: what was done is left alone, what failed is tried again.
    let before = try Workspace.listing(of: folder.place.out).filter { $0.key != "batch.json" }
    let second = try folder.batch(pipeline)
    #expect(second.exitCode == 3)
    #expect(second.report?.done == 0 && second.report?.reused == 3 && second.report?.failed == 2)
    let after = try Workspace.listing(of: folder.place.out).filter { $0.key != "batch.json" }
    #expect(after == before)
  }

  @Test("a report in another layout is replaced; another file stays, with what to do")
  func foreignReport() throws {
    try folder.putTiny(1, "good.wav")
    let (pipeline, path) = (try folder.pipeline(), folder.place.out + "/batch.json")
    #expect(try folder.batch(pipeline).report?.done == 1)
    _ = try Reference.output("sh", ["-c", "sed -i 's/\":/\": /g' \(path)"])
    #expect(try folder.batch(pipeline).report?.reused == 1)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: path))
    #expect(try folder.batch(pipeline).errorOutput.contains("; move it away, and the next batch"))
  }

  @Test("a batch is the same one, however its pipeline is spelled")
  func spellings() throws {
    try folder.putTiny(1, "good.wav")
    try folder.put(Data("this is no sound at all".utf8), "bad.wav")
    let pipeline = try folder.pipeline()
    #expect(try folder.batch(pipeline).exitCode == 3)
    let link = folder.place.file("by-link.yaml")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: pipeline)
    let name = URL(fileURLWithPath: pipeline).lastPathComponent
    for spelling in [link, folder.path + "/../" + name] {
      let again = try folder.batch(spelling)
      #expect(again.report?.reused == 1 && again.report?.done == 0, "\(spelling)")
      let failed = try folder.batch(spelling, ["--failed"])
      #expect(failed.exitCode != 0 && failed.report?.failed == 1, "\(spelling): \(failed.lines)")
    }
  }

  @Test("a recording that is there twice is worked on once, gives both exports, and counts twice")
  func twins() throws {
    for name in ["a.wav", "b/a.wav", "c.wav"] { try folder.putTiny(1, name) }
    let pipeline = try folder.pipeline()
    let run = try folder.batch(pipeline, ["--jobs", "3"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let exports = try ["a.wav", "b/a.wav", "c.wav"].map { try folder.place.export($0) }
    #expect(exports[0] == exports[1])
    // Another name is another description in a WAV file of the same length.
    #expect(exports[0].count == exports[2].count)
    // Each is 0.1 s long, whoever did the work.
    let lengths = run.report?.files.map { $0.mediaSeconds ?? 0 } ?? []
    #expect(lengths.count == 3 && lengths.allSatisfy { abs($0 - 0.1) < 1e-6 }, "\(lengths)")
    // Decoding, compressing, normalizing, exporting: each was done by one of the three.
    let runs = try folder.place.spool(["runs", "--json"]).text
    #expect(runs.components(separatedBy: #""outcome":"made""#).count - 1 == 4)
    #expect(runs.components(separatedBy: #""outcome":"reused""#).count - 1 == 8)
  }

  @Test("the first line says how long and how large the batch is, whatever is in the store")
  func header() throws {
    for number in 0..<3 { try folder.putTiny(number, "note-\(number).wav") }
    try folder.put(Data("no sound".utf8), "bad.wav")
    let pipeline = try folder.pipeline()
    let first = try folder.batch(pipeline)
    let line = try #require(first.lines.first { $0.hasPrefix("4 files") })
    #expect(line.hasPrefix("4 files, 0.3 s of sound: 4 to do, 0 reused · needs about "), "\(line)")
    // The work is there, the exports are wanted elsewhere.
    let other = try folder.place.spool(
      ["batch", pipeline, folder.path, "--out", folder.place.file("other")])
    let again = try #require(
      other.text.split(separator: "\n").first { $0.hasPrefix("4 files") })
    #expect(
      again.hasPrefix("4 files, 0.3 s of sound: 4 to do, 0 reused · needs about "), "\(again)")
  }

  @Test("--failed works on those that failed, and on nothing else")
  func failedOnly() throws {
    let pipeline = try folder.pipeline()
    try folder.putTiny(1, "good.wav")
    try folder.put(Data("no sound".utf8), "bad.wav")
    #expect(try folder.batch(pipeline).exitCode == 3)
    try folder.putTiny(2, "bad.wav")
    try folder.putTiny(3, "new.wav")
    let retry = try folder.batch(pipeline, ["--failed"])
    #expect(retry.exitCode == 0, "\(retry.errorOutput)")
    #expect(retry.outcomes["bad.wav"] == "done" && retry.outcomes["new.wav"] == "left-out")
    // Although its stamp is too young to tell.
    #expect(retry.outcomes["good.wav"] == "reused", "\(retry.lines)")
    #expect(!FileManager.default.fileExists(atPath: folder.place.out + "/new.wav"))
    // Where nothing is left to retry, the report stays as it is, to the byte.
    let report = URL(fileURLWithPath: folder.place.out + "/batch.json")
    let before = try Data(contentsOf: report)
    #expect(try folder.batch(pipeline, ["--failed"]).exitCode == 0)
    #expect(try Data(contentsOf: report) == before)
    #expect(try folder.batch(pipeline).report?.done ?? 0 >= 1)
    #expect(FileManager.default.fileExists(atPath: folder.place.out + "/new.wav"))
  }

  @Test("where everything fails, the exit code is 1, and where nothing is there too")
  func nothing() throws {
    let pipeline = try folder.pipeline()
    #expect(try folder.batch(pipeline).exitCode == 1)
    try folder.put(Data("no sound".utf8), "bad.wav")
    #expect(try folder.batch(pipeline).exitCode == 1)
  }

  @Test("recordings with one stem, and those called as an export is, keep apart")
  func collisions() throws {
    try folder.putTiny(1, "a.wav")
    try folder.putTiny(2, "a.wave")
    try folder.putTiny(3, "a-2.wav")
    let pipeline = try folder.pipeline()
    let run = try folder.batch(pipeline)
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let names = Dictionary(
      (run.report?.files ?? []).map { ($0.path, $0.name ?? "") }, uniquingKeysWith: { $1 })
    #expect(names == ["a-2.wav": "a-2", "a.wav": "a", "a.wave": "a-3"])
    let exports = try folder.place.allExports()
    #expect(Set(exports.keys) == ["a.wav", "a-2.wav", "a-3.wav", "batch.json"])
    // A new one that comes before them all in the alphabet takes nobody's name.
    try folder.putTiny(4, "a.aiff.wav")
    try folder.putTiny(5, "a.au")
    let again = try folder.batch(pipeline)
    #expect(again.report?.file("a.au")?.name == "a-4")
    #expect(again.report?.file("a.wav")?.name == "a")
    for name in ["a.wav", "a-2.wav", "a-3.wav"] {
      #expect(try folder.place.export(name) == exports[name], "\(name)")
    }
  }

  @Test("the report has the names that the exports of hostile recordings really have")
  func hostileNames() throws {
    let hostile = [
      "-o.wav", "_o.wav", " sp .wav", "nl\nx.wav", "bs\\.wav", "sub/-o.wav", "a.b.wav",
    ]
    for (number, name) in hostile.enumerated() { try folder.putTiny(number, name) }
    let run = try folder.batch(try folder.pipeline())
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    let files = try #require(run.report?.files)
    #expect(files.count == hostile.count)
    for file in files {
      #expect(file.exports?.map(\.path) == [(file.name ?? "") + ".wav"], "\(file.path)")
    }
    #expect(
      Set(files.compactMap(\.name)) == ["_o", "_o-2", "sp", "nl_x", "bs_", "sub/_o", "a.b"])
    #expect(files.compactMap(\.wantedName) == ["_o"])
    for name in ["_o", "sp", "nl_x", "bs_"] {
      #expect(run.errorOutput.contains(" are called \(name): "), "\(run.errorOutput)")
    }
    #expect(!run.errorOutput.contains("a.b"), "\(run.errorOutput)")
  }

  @Test("a sidecar changes what it may for its own recording; a wrong one fails that one alone")
  func sidecars() throws {
    let pipeline = try folder.pipeline()
    for (number, name) in ["plain", "loud", "wrong", "locked", "odd"].enumerated() {
      try folder.putTiny(number, name + ".wav")
    }
    func sidecar(_ name: String, _ text: String) throws {
      try folder.put(Data(text.utf8), name + ".json")
    }
    try sidecar("loud", #"{"title": "x", "spool": {"set": {"peak": "-9 dB"}}}"#)
    try sidecar("wrong", #"{"spool": {"set": {"peak": "9 kHz"}}}"#)
    try sidecar("locked", #"{"spool": {"set": {"fixed": "-9 dB"}}}"#)
    try sidecar("odd", #"{"noteId": 7, "anything": [{}]}"#)
    let run = try folder.batch(pipeline)
    #expect(run.exitCode == 3, "\(run.errorOutput)")
    func peak(_ name: String) -> Double? {
      run.report?.file(name + ".wav")?.levels?["normalize"]?.after?.samplePeak
    }
    #expect(abs((peak("plain") ?? 0) + 3) < 0.1)
    #expect(abs((peak("loud") ?? 0) + 9) < 0.1)
    #expect(abs((peak("odd") ?? 0) + 3) < 0.1)
    let wrong = try #require(run.report?.file("wrong.wav"))
    #expect(wrong.outcome == "failed" && wrong.error?.reason?.contains("kHz") == true)
    let locked = try #require(run.report?.file("locked.wav"))
    #expect(locked.error?.reason?.contains("not marked overridable") == true)

    // Another sidecar, or none any more, is another order for that recording.
    try sidecar("loud", #"{"spool": {"set": {"peak": "-6 dB"}}}"#)
    try FileManager.default.removeItem(atPath: folder.path + "/locked.json")
    let again = try folder.batch(pipeline)
    #expect(again.outcomes["loud.wav"] == "done" && again.outcomes["locked.wav"] == "done")
    #expect(again.outcomes["plain.wav"] != "failed")
  }

  @Test("a template makes names of tags and sidecars, without ever leaving the output folder")
  func template() throws {
    try folder.put(sample: "note-1.m4a", "n1.m4a")
    try folder.put(
      Data(#"{"title": "../../Call / garage", "createdAt": "2026-03-14T07:42:10Z"}"#.utf8),
      "n1.json")
    try folder.putTiny(1, "x/REC20260102.wav")
    try folder.putTiny(2, "y/REC20260102.wav")
    let run = try folder.batch(
      try folder.pipeline(), ["--name", "{album}/{date}-{title}.{ext}"])
    #expect(run.exitCode == 0, "\(run.errorOutput)")
    #expect(run.report?.file("n1.m4a")?.name?.hasPrefix("../") == false)
    let names = (run.report?.files ?? []).compactMap(\.name)
    #expect(names.contains { $0.hasSuffix("/2026-03-14-Call - garage") }, "\(names)")
    #expect(names.contains("unknown album/2026-01-02-REC20260102"))
    #expect(names.contains("unknown album/2026-01-02-REC20260102-2"))
    #expect(!FileManager.default.fileExists(atPath: folder.place.file("Call")))
  }

  @Test("names with newlines, and odd ones, are recordings; what is no UTF-8 is named and fails")
  func oddNames() throws {
    try folder.putTiny(1, "line\nbreak.wav")
    try folder.putTiny(2, "-rf.wav")
    try folder.putTiny(3, "a \"quoted\" 'name' $HOME `x`.wav")
    let bytes = Array((folder.path + "/caf").utf8CString.dropLast()) + [CChar(bitPattern: 0xE9)]
    let descriptor = unsafe open(bytes + Array(".wav".utf8CString), O_CREAT | O_WRONLY, 0o600)
    try #require(descriptor >= 0)
    close(descriptor)
    let run = try folder.batch(try folder.pipeline())
    #expect(run.exitCode == 3, "\(run.errorOutput)")
    #expect(run.report?.done == 3)
    let unnamed = run.report?.file("caf\u{FFFD}.wav")
    #expect(unnamed?.error?.advice?.contains("rename") == true)
    #expect(unnamed?.exactPath == "caf%E9.wav")
    #expect(run.report?.file("line\nbreak.wav")?.exactPath == "line%0Abreak.wav")
    #expect(run.report?.file("-rf.wav")?.exactPath == nil)
    #expect(run.lines.allSatisfy { !$0.contains("\r") })
  }

  @Test(
    "an order that makes no sense is refused before any work",
    arguments: [
      ["--jobs", "0"], ["--name", "../{title}"], ["--name", "{titel}"], ["--name", "{stem}.mp3"],
      ["--include", "[a"],
      ["--set", "nothing=1"],
    ])
  func usage(options: [String]) throws {
    try folder.putTiny(1, "a.wav")
    let run = try folder.batch(try folder.pipeline(), options)
    #expect(run.exitCode == 2, "\(run.errorOutput)")
    #expect(run.report == nil)
  }

  @Test("what is left out, and what is called otherwise than wanted, is told before and after")
  func leftOut() throws {
    try folder.putTiny(1, "a.wav")
    try folder.putTiny(2, "b/a.wav")
    try folder.put(Data("x".utf8), "cover.jpg")
    try folder.put(Data("x".utf8), ".DS_Store")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link", withDestinationPath: "/etc")
    #expect(unsafe mkfifo(folder.path + "/pipe.wav", 0o600) == 0)
    for turn in 1...2 {
      let run = try folder.batch(try folder.pipeline(), ["--name", "{stem}"])
      #expect(run.exitCode == 0, "\(run.errorOutput)")
      let words = "left out: 1 that is no recording, 1 link, 1 pipe, socket or device, 1 hidden"
      #expect(run.lines.count { $0 == words } == 2, "\(run.lines)")
      let renamed = "renamed: 1, for the exports of other files have its name"
      #expect(run.lines.count { $0 == renamed } == 2, "turn \(turn): \(run.lines)")
      let report = try #require(run.report)
      #expect(run.lines.count { $0 == "  b/a.wav: a-2" } == 2, "turn \(turn): \(run.lines)")
      #expect(report.skipped == ["no-recording": 1, "link": 1, "special": 1, "hidden": 1])
      #expect(
        report.skippedFiles.map { "\($0.path) \($0.reason)" }
          == [".DS_Store hidden", "cover.jpg no-recording", "link link", "pipe.wav special"])
      #expect(report.renamed == 1)
      let second = report.file("b/a.wav")
      #expect(second?.name == "a-2" && second?.wantedName == "a")
      #expect(report.file("a.wav")?.wantedName == nil)
    }
  }

  @Test("exports never go into the folder of the recordings")
  func sameFolder() throws {
    try folder.putTiny(1, "a.wav")
    let run = try folder.place.spool(
      ["batch", try folder.pipeline(), folder.path, "--out", folder.path])
    #expect(run.exitCode == 2)
    #expect(Workspace.names(in: folder.path) == ["a.wav"])
  }

  @Test("batch.json keeps the last report of each other pipeline, and replaces its own")
  func otherPipelines() throws {
    struct Report: Decodable {
      let pipeline: String
      let others: [Report]?
    }
    func report() throws -> Report {
      try JSONDecoder().decode(
        Report.self,
        from: Data(contentsOf: URL(fileURLWithPath: folder.place.out + "/batch.json")))
    }
    try folder.putTiny(1, "a.wav")
    func pipeline(_ name: String, _ format: String) throws -> String {
      try folder.place.pipeline(
        "pipeline: \(name)\ninputs: { note: sound }\nstages:\n  - decode\n  - export: [\(format)]\n",
        named: name + ".yaml")
    }
    let (one, two) = (try pipeline("one", "wav"), try pipeline("two", "flac"))
    for pipeline in [one, two, two] {
      let batch = try folder.batch(pipeline)
      #expect(batch.exitCode == 0, "\(batch.errorOutput)")
    }
    var last = try report()
    #expect(last.pipeline == "two" && last.others?.map(\.pipeline) == ["one"])
    #expect(try folder.batch(one).exitCode == 0)
    last = try report()
    #expect(last.pipeline == "one" && last.others?.map(\.pipeline) == ["two"])
  }

  @Test("exports of earlier runs are left out where their recordings are, unless they are named")
  func earlierExports() throws {
    try folder.putTiny(1, "a.wav")
    let (pipeline, made) = (try folder.pipeline(), folder.path + "/made")
    try #require(
      try folder.place.run(pipeline, [folder.path + "/a.wav"], ["--out", made]).exitCode == 0)
    let run = try folder.batch(pipeline)
    #expect(run.outcomes.keys.sorted() == ["a.wav"], "\(run.lines)")
    #expect(run.lines.contains { $0.contains("1 export of earlier runs") }, "\(run.lines)")
    #expect(run.report?.skippedFiles.map(\.path) == ["made/a.wav"])
    let named = try folder.batch(pipeline, ["--include", "made/*"])
    #expect(named.outcomes.keys.sorted() == ["a.wav", "made/a.wav"], "\(named.lines)")
    // Alone, they are what another pipeline begins with.
    let other = try folder.place.spool(["batch", pipeline, made, "--out", folder.place.file("o")])
    #expect(other.exitCode == 0, "\(other.errorOutput)")
  }
}
