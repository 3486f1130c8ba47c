import Foundation
import TestSupport
import Testing

/// Runs every command that takes `--json` on a store with something of everything, and holds each
/// line against the command's schema. A new command needs one line here.
@Suite(
  "What commands print with --json is as their schemas say",
  .enabled(if: SchemaCheck.isPossible, "Python's jsonschema is not installed"))
struct JSONOutputTests {
  /// What no command here can be made to print in a reasonable time. The unit tests hold samples of
  /// these events against their schemas.
  private static let rare = [
    "waiting", "began-anew", "dropped", "retrying", "went-on", "differs",
  ]

  @Test("each line of each command, each form that a schema knows, and no schema without a command")
  func lines() throws {
    let trial = try JSONTrial()
    try trial.runs()
    try trial.batches()
    try trial.words()
    try trial.receipts()
    try trial.stamps()
    try trial.watches()
    try trial.pipelines()
    try trial.plugins()
    try trial.history()
    try trial.care()

    let names = try trial.place.spool(["pipeline", "schema", "json"]).text
      .split(separator: "\n").map(String.init)
    #expect(Set(trial.lines.keys) == Set(names))
    var check = try SchemaCheck()
    for name in names {
      // The command as it is typed, but for the file batch.json.
      let words = name == "batch-report" ? [name] : name.split(separator: "-").map(String.init)
      let schema = try trial.place.spool(["pipeline", "schema", "json"] + words)
      #expect(schema.exitCode == 0, "\(schema.errorOutput)")
      #expect(schema.text.contains("\"urn:spool:json:v1:\(name)\""), "\(schema.text)")
      check.add(trial.lines[name] ?? [], to: schema.text)
    }
    for problem in try check.problems()
    where !problem.hasPrefix("urn:spool:json:v1:resume: nothing is: ")
      && !Self.rare.contains(where: { problem.hasSuffix("nothing is: \($0)") })
    {
      Issue.record("\(problem)")
    }
  }

  @Test("a schema that is not there is refused, and the nearest one named")
  func unknown() throws {
    let place = try Workspace()
    let unknown = try place.spool(["pipeline", "schema", "json", "runs", "lst"])
    #expect(unknown.exitCode == 2)
    #expect(unknown.errorOutput.contains("\"runs-list\""), "\(unknown.errorOutput)")
    #expect(try place.spool(["pipeline", "schema", "receipt", "runs"]).exitCode == 2)
    // The first word alone means a command here as well.
    let usual = try place.spool(["pipeline", "schema", "json", "runs"])
    #expect(usual.text.contains("\"urn:spool:json:v1:runs-list\""), "\(usual.errorOutput)")
  }
}

/// A store that gets something of everything, and the lines that commands print meanwhile.
private final class JSONTrial {
  let watched: WatchedPlace
  var place: Workspace { watched.place }
  /// By the schema's name.
  var lines: [String: [String]] = [:]

  private let note: String
  private let proven: String

  init() throws {
    watched = try WatchedPlace()
    let place = watched.place
    note = place.file("note.wav")
    try Reference.record(note, seconds: 3)
    proven = try place.pipeline(
      """
      pipeline: proven
      inputs: { note: sound }
      vars: { loud: false }
      stages:
        - decode
        - gain: 3 dB
          when: $loud
        - normalize: { peak: -3 dB }
        - export: [wav]
        - proof: { bag: true }
      """, named: "proven.yaml")
  }

  // MARK: Recording lines

  /// Runs a command with `--json`, and keeps its lines for the schema of its name.
  @discardableResult
  private func take(
    _ name: String, _ arguments: [String], in other: Workspace? = nil, codes: Set<Int32> = [0],
    environment: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    let words = name.split(separator: "-").map(String.init) + arguments + ["--json"]
    let result = try (other ?? place).spool(words, environment: environment)
    #expect(
      codes.contains(result.exitCode), "\(words)\n\(result.errorOutput)\(result.text)",
      sourceLocation: sourceLocation)
    return keep(result.text, name)
  }

  @discardableResult
  private func keep(_ text: String, _ name: String) -> [String] {
    let new = text.split(separator: "\n").map(String.init)
    lines[name, default: []] += new
    // Both have the events of runs.
    if name == "resume" { lines["run", default: []] += new }
    return new
  }

  private func member(_ name: String, of line: String?) throws -> String {
    let object = try JSONSerialization.jsonObject(with: Data((line ?? "{}").utf8))
    return try #require((object as? [String: Any])?[name] as? String, "\(line ?? "")")
  }

  // MARK: Work

  /// Runs that are done, reused, failed and interrupted.
  func runs() throws {
    let options = [proven, note, "--out", place.out]
    try take("run", options)
    try take("run", options)
    // An export that another file is in the way of, a file that is no recording, and a warning.
    try FileManager.default.createDirectory(
      atPath: place.file("other"), withIntermediateDirectories: true)
    try place.folder.write("mine", to: "other/note.wav")
    try take("run", [watched.pipeline, note, "--out", place.file("other")], codes: [1])
    try place.folder.write("no sound", to: "broken.wav")
    try take("run", [watched.pipeline, place.file("broken.wav"), "--out", place.out], codes: [1])
    let plain = try place.pipeline(
      "pipeline: plain\ninputs: { note: sound }\nstages: [decode, denoise, { export: [wav] }]\n",
      named: "plain.yaml")
    try take("run", [plain, try watched.make(8), "--out", place.out])
    try interrupt()
  }

  private func interrupt() throws {
    let long = place.file("long.wav")
    try Reference.record(long, seconds: 200, rate: 22050, channels: 1)
    let pipeline = try place.pipeline(
      """
      pipeline: long
      inputs: { note: sound }
      stages:
        - decode
        - compress: { threshold: -24 dB, ratio: 3 }
        - normalize: { peak: -3 dB }
        - export: [wav, m4a]
      """, named: "long.yaml")
    let running = try place.start(pipeline, [long])
    #expect(try running.waits(for: #""event":"progress""#, times: 12))
    running.send(SIGTERM)
    #expect(try running.end().run.exitCode == 143)
    try take("status", ["--check"], codes: [1])
    try take("resume", [])
    // The run that failed is the newest now, and fails again.
    try take("resume", [], codes: [1])
  }

  /// A batch with recordings of one album, one that is none, names that collide, and other files.
  func batches() throws {
    let folder = place.file("album")
    try FileManager.default.createDirectory(
      atPath: folder + "/more", withIntermediateDirectories: true)
    for (index, name) in ["a.wav", "more/a.wav"].enumerated() {
      try Reference.record(folder + "/" + name, seconds: Double(4 + index))
    }
    // Too short to learn its noise, which is a warning.
    try Reference.record(folder + "/short.wav", seconds: 0.3)
    for name in ["broken.wav", "letter.txt", ".hidden"] {
      try place.folder.write("no sound", to: "album/" + name)
    }
    let pipeline = try place.pipeline(
      """
      pipeline: album
      inputs: { note: sound }
      stages:
        - decode
        - normalize: { loudness: -20 LUFS, album: true }
        - denoise
        - export: [wav]
        - proof: { authorities: [{ url: 'http://127.0.0.1:9/', certificates: ca.pem }] }
      """, named: "album.yaml")
    let authority = try TimeAuthority()
    try FileManager.default.copyItem(atPath: authority.certificates, toPath: place.file("ca.pem"))
    authority.end()
    let out = place.file("albums")
    for _ in 1...2 {
      try take("batch", [pipeline, folder, "--out", out, "--name", "{album}"], codes: [3])
      keep(
        try String(contentsOfFile: out + "/batch.json", encoding: .utf8).replacing("\n", with: ""),
        "batch-report")
    }
  }

  /// Recordings that are accepted, come twice, fail and are quarantined, and a device's conflict.
  func watches() throws {
    for number in 1...5 { try watched.make(number) }
    let watch = try watched.watch(["--attempts", "1", "--give-up", "1s"])
    let identity = "5f1f1f0e-7f5a-4c55-9d3c-0a6f1c1b2d3e"
    let sidecar = #"{"noteId": "\#(identity)", "title": "One", "durationMs": "x", "odd": 1}"#
    try place.folder.write(sidecar, to: "inbox/1.json")
    try watched.shell("cp made/1.wav inbox/1.wav; echo text > inbox/letter.txt")
    func awaits(_ event: String, _ count: Int = 1) {
      let isThere = watched.wait { watch.news.count { $0.event == event } >= count }
      #expect(isThere, "\(event): \(watch.output)\(watch.errors)")
    }
    awaits("uploaded")
    // The same bytes under another name, and other bytes under the same identity.
    try watched.shell("cp made/1.wav inbox/again.wav")
    awaits("duplicate")
    try place.folder.write(#"{"noteId": "\#(identity)"}"#, to: "inbox/2.json")
    try watched.shell("cp made/2.wav inbox/2.wav")
    awaits("conflict")
    // A file in the way of the folder of its export, and one that is no recording at all.
    try watched.shell("mkdir inbox/sub; touch out/sub; cp made/3.wav inbox/sub/")
    try watched.shell("echo none > inbox/none.wav")
    awaits("failed")
    awaits("quarantined")
    #expect(watched.wait { watch.output.contains("released") })
    try take("status", [])
    watch.send(SIGTERM)
    #expect(watch.end() == 0, "\(watch.errors)")
    keep(watch.output, "watch")
    try watched.shell("cp made/4.wav inbox/4.wav")
    try take("status", [])

    let recordings = try take("inbox", ["list"])
    for line in recordings { try take("inbox", ["show", try member("key", of: line)]) }
    func key(_ state: String) throws -> String {
      try member("key", of: recordings.first { $0.contains("\"state\":\"\(state)\"") })
    }
    try take("inbox", ["export", try key("uploaded"), "--to", place.file("desk")])
    try take("inbox", ["retry", try key("failed")])
    try take("inbox", ["forget", try key("quarantined")])
  }

  /// Words that are shown, found, cut out and corrected.
  func words() throws {
    let talk = place.file("talk.wav")
    let text = "Please call me back on Monday morning. The quick brown fox jumps over the lazy dog."
    let speaker = try #require(Program(named: "espeak-ng"))
    #expect(try speaker.run(["-v", "en-us+m3", "-w", talk, text]).exitCode == 0)
    let script = try place.folder.write(text, to: "talk.txt")
    try take("run", [PackageFiles.pipeline("words.yaml"), talk, script, "--out", place.out])
    try take("search", ["fox"])
    try take("search", ["fox", "--clip", place.file("fox.wav")])
    let edited = try place.folder.write(
      text.replacing("brown", with: "red"), to: "edited.txt")
    try take("words", ["edit", talk, "--from", edited])
    try take("words", ["edit", talk, "--from", edited])
    try take("words", ["show", talk])
    try take("words", ["export", talk, "-o", place.file("talk.srt")])
    try take("words", ["undo", talk])
  }

  // MARK: Proof

  /// Receipts, a bag and a quote, which are sound, broken and withdrawn.
  func receipts() throws {
    let data = place.out + "/note/data"
    let receipt = data + "/note.receipt.json"
    try take(
      "proof-quote",
      [receipt, "--from", "1.2", "--to", "2.1", "--out", place.out + "/quote"])
    try take("verify", [place.out])
    try take("proof-key", ["show"])
    try take("proof-key", ["show", data + "/spool.pub"])
    let head = try place.folder.write(
      take("proof-ledger", ["head"]).joined() + "\n", to: "head.json")
    try take("proof-ledger", ["prove", receipt])
    try take("proof-ledger", ["consistency", head])
    try take("proof-ledger", ["withdraw", receipt, "--reason", "a test"])
    try place.folder.write("other", to: "out/note/data/note.wav")
    try take("verify", [place.out], codes: [4])
    try FileManager.default.removeItem(atPath: place.out + "/note")
    try take("verify", [place.out], codes: [0, 4])
  }

  /// Time stamps that wait, and that come.
  func stamps() throws {
    let bench = try StampBench()
    bench.authority.end()
    let options = [try bench.pipeline(), bench.recording, "--out", bench.place.out]
    try take("run", options, in: bench.place)
    try take("status", [], in: bench.place)
    try take("proof-stamp", [], in: bench.place, codes: [1])
    try bench.authority.begin()
    try take("proof-stamp", [], in: bench.place)
    try take("verify", [bench.place.out], in: bench.place)
    let again = try StampBench()
    try take(
      "run", [try again.pipeline(), again.recording, "--out", again.place.out], in: again.place)
    // A batch and the resumption of a run end with the same.
    let folder = again.place.file("notes")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Reference.record(folder + "/other.wav", seconds: 0.3)
    try take(
      "batch", [try again.pipeline(), folder, "--out", again.place.out], in: again.place)
  }

  // MARK: Pipelines

  func pipelines() throws {
    let wrong = try place.pipeline(
      "pipeline: wrong\ninputs: { note: sound }\nstages: [decode, eqq, { gain: 1e9 dB }]\n",
      named: "wrong.yaml")
    try take("pipeline-check", [wrong], codes: [2])
    try take("pipeline-plan", [proven, note])
    let tiny = try watched.make(9)
    try take("pipeline-crashtest", [watched.pipeline, tiny, "--kills", "2", "--seed", "7"])
    try take("stages", [])
    try take("stages", ["gate"])
    let list = try take("stages", ["ladspa:"]).first ?? "[]"
    let installed = try JSONSerialization.jsonObject(with: Data(list.utf8)) as? [[String: Any]]
    let identity = try #require(
      installed?.first?["identity"] as? String, "no LADSPA plugins (cmt) are installed")
    try take("stages", ["ladspa:" + identity])
  }

  func plugins() throws {
    try take("plugin", ["new", "warmth"])
    try take("plugin", ["list"])
    try take("plugin", ["show", "warmth"])
    try take("plugin", ["check"])
    try take("plugin", ["test", "Plugins/warmth", "--only", "silence"], codes: [0, 2])
    try FileManager.default.createDirectory(
      atPath: place.file("Plugins/bad"), withIntermediateDirectories: true)
    try place.folder.write("plugin: bad\nversion: 1\n", to: "Plugins/bad/plugin.yaml")
    try take("plugin", ["list"])
    try take("plugin", ["check"], codes: [2])
  }

  // MARK: The store

  func history() throws {
    let runs = try take("runs-list", ["--limit", "0"])
    for line in runs {
      let id = try member("id", of: line)
      try take("runs-show", [id])
      try take("why", [id])
    }
    let failed = try member("id", of: runs.first { $0.contains(#""state":"failed""#) })
    try take("runs-forget", [failed])
    try take("runs-forget", ["--failed"])
  }

  func care() throws {
    try take("store-backup", [])
    try take("store-backup", [place.file("copy.sqlite")])
    try take("store-check", [])
    try take("store-gc", ["--dry-run", "--older-than", "0s", "--grace", "0s"])
    try take("store-gc", ["--pin", "last"])
    try take("store-gc", ["--unpin", "last"])
    try take("store-gc", ["--older-than", "0s", "--grace", "0s"])
    try take("store-restore", ["--list"])
    try place.folder.write("stray", to: "store/artifacts/stray")
    try place.folder.write("no database", to: "store/spool.sqlite")
    try take("store-check", ["--quick"], codes: [4])
    try take("store-repair", ["--dry-run"])
    try take("store-repair", [])
    try take("store-restore", [])
    try take("store-check", [], codes: [0, 4])
  }
}
