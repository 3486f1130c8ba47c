import Foundation
import TestSupport
import Testing

/// A store that gets something of everything, and the lines that commands print meanwhile.
final class JSONTrial {
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
    try makeCollectionDue()
    try take("run", options)
    // An export that another file is in the way of, a file that is no recording, and a warning.
    try FileManager.default.createDirectory(
      atPath: place.file("other"), withIntermediateDirectories: true)
    try place.folder.write("mine", to: "other/note.wav")
    try take("run", [watched.pipeline, note, "--out", place.file("other")], codes: [1])
    try place.folder.write("no sound", to: "broken.wav")
    try take("run", [watched.pipeline, place.file("broken.wav"), "--out", place.out], codes: [1])
    let plain = try place.pipeline(
      "pipeline: plain\ninputs: { note: sound }\nstages: [decode, denoise, { export: [wav] }, "
        + "{ assert: { duration: 1 h .., out-of-bounds: warn } }]\n",
      named: "plain.yaml")
    let chapters = #"{"chapters": [{"start": 0.1, "title": "One"}, {"start": 0.2}]}"#
    try place.folder.write(chapters, to: "made/8.json")
    try take("run", [plain, try watched.make(8), "--out", place.out])
    try interrupt()
  }

  /// Lets the next run or batch free a file that no checkpoint names.
  private func makeCollectionDue() throws {
    let name = String(repeating: "ab", count: 32)
    try FileManager.default.createDirectory(
      atPath: place.store + "/artifacts/ab", withIntermediateDirectories: true)
    for path in ["artifacts/ab/" + name, "collected"] {
      try place.folder.write("stray", to: "store/" + path)
      try FileManager.default.setAttributes(
        [.modificationDate: Date(timeIntervalSinceNow: -2 * 86_400)],
        ofItemAtPath: place.store + "/" + path)
    }
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
    // The run whose export another file is in the way of fails again.
    let runs = try take("runs-list", ["--limit", "0"])
    let blocked = try member("id", of: runs.first { $0.contains(place.file("other") + "\"") })
    try take("resume", [blocked], codes: [1])
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
      try makeCollectionDue()
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
    // What waits has to be given up first.
    for line in try take("inbox", ["list"]) where !line.contains("\"state\":\"uploaded\"") {
      try take("inbox", ["forget", try member("key", of: line)])
    }
    try take("inbox", ["forget", "--inbox", watched.inbox])
  }

  /// Results of the quick commands that are planned, done and refused; their pipelines; and what is
  /// heard of them.
  func quick() throws {
    let commands = [
      "normalize": [note, "-t", "-20"], "convert": [note], "clean": [note],
      "trim": [note, "--to", "1"], "mix": [note, place.file("made/8.wav") + ":-6dB"],
    ]
    for (name, words) in commands {
      let options = words + ["--out", place.file(name + ".flac")]
      try take(name, options + ["--show"])
      try take(name, options + ["--dry-run"])
      try take(name, options)
      try take(name, options, codes: [1])
    }
    let several = [note, place.file("broken.wav"), "--out", place.file("several") + "/"]
    try take("convert", several + ["--format", "mp3,wav"], codes: [3])
    try take("normalize", [note, "--out", place.file("kept.wav"), "--keep"])
    try take("play", [note])
    try take("play", ["last", "--compare", "before", "--from", "0.5", "--to", "2"])
    try take("play", [note, "--compare", place.file("mix.flac")])
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
    try take("words", ["export", talk])
    try take("words", ["undo", talk])
    try take("words", ["forget", talk, "--yes"])
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

  // MARK: Deliveries

  func deliveries() throws {
    let other = try Workspace()
    let folder = other.file("nas")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try other.folder.write(
      "destinations: { nas: { folder: \(folder) }, away: { folder: /not/there } }\n",
      to: "destinations.yaml")
    let destinations = ["--destinations", other.file("destinations.yaml")]
    let pipeline = try other.pipeline(
      "pipeline: sent\ninputs: { note: sound }\nstages:\n  - decode\n  - export: [wav]\n"
        + "  - proof\n  - deliver: { to: [nas, away] }\n", named: "sent.yaml")
    let recording = other.file("note.wav")
    try Reference.record(recording, seconds: 0.3)
    let options = [pipeline, recording, "--out", other.out, "--deliver-wait", "5s"] + destinations
    try take("run", options, in: other)
    try take("status", [], in: other)
    try take("verify", [other.out], in: other)
    try other.folder.write(
      "destinations: { nas: { webdav: 'http://127.0.0.1:9/x', public: 'https://share.example/x' } }\n",
      to: "linked.yaml")
    try take("deliver-link", ["last", "--destinations", other.file("linked.yaml")], in: other)
    for case let name as String in FileManager.default.enumerator(atPath: folder) ?? .init()
    where name.hasSuffix(".recording.json") {
      keep(
        try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8), "delivered-recording")
    }
    try take("deliver-verify", ["nas"] + destinations, in: other)
    try take("deliver-missing", ["away"] + destinations, in: other)
    try take(
      "deliver-fetch", ["nas", "last", "--out", other.file("got")] + destinations, in: other)
    let restore = ["--from", "nas", "--out", other.file("back"), "--store", other.file("new")]
    try take("store-restore", restore + destinations, in: other)
    let delivered = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
    let export = try #require(delivered?.first { $0.hasSuffix("/note.wav") })
    let kept = other.file("kept.wav")
    try FileManager.default.moveItem(atPath: "\(folder)/\(export)", toPath: kept)
    try take("deliver-verify", ["nas"] + destinations, in: other, codes: [4])
    try take(
      "deliver-fetch", ["nas", "last", "--out", other.file("less")] + destinations, in: other,
      codes: [4])
    let less = ["--from", "nas", "--out", other.file("rest"), "--store", other.file("newer")]
    try take("store-restore", less + destinations, in: other, codes: [4])
    try FileManager.default.moveItem(atPath: kept, toPath: "\(folder)/\(export)")
    let notes = other.file("notes")
    try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
    try Reference.record(notes + "/other.wav", seconds: 0.3)
    let batch = [pipeline, notes, "--out", other.out, "--deliver-wait", "5s"]
    _ = try other.spool(["deliver", "retry"])
    try take("batch", batch + destinations, in: other)
    let sending = ["last", "--to", "away,nas", "--deliver-wait", "5s"] + destinations
    _ = try other.spool(["deliver", "retry"])
    try take("deliver-send", sending, in: other)
    try other.folder.write("other bytes", to: "out/note.wav")
    _ = try other.spool(["deliver", "retry"])
    try take("deliver-run", ["--once"] + destinations, in: other, codes: [1, 3])
    try take("deliver-queue", ["--all"], in: other)
    try take("deliver-destinations", destinations, in: other)
    try take("deliver-check", destinations, in: other, codes: [1])
  }

  // MARK: Pipelines

  func pipelines() throws {
    let empty = place.file("nothing in it")
    try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: true)
    try take("batch", [proven, empty, "--out", place.file("none")], codes: [1])
    let wrong = try place.pipeline(
      "pipeline: wrong\ninputs: { note: sound }\nstages: [decode, eqq, { gain: 1e9 dB }]\n",
      named: "wrong.yaml")
    try take("pipeline-check", [wrong], codes: [2])
    try take("pipeline-plan", [proven, note])
    try take("pipeline-graph", [proven])
    try take("pipeline-list", [])
    let tiny = try watched.make(9)
    try take("pipeline-crashtest", [watched.pipeline, tiny, "--kills", "2", "--seed", "7"])
    try take("stages", [])
    try take("stages", ["gate"])
    let first = try take("stages", ["ladspa:"]).first ?? "{}"
    let installed = try JSONSerialization.jsonObject(with: Data(first.utf8)) as? [String: Any]
    let identity = try #require(
      installed?["identity"] as? String, "no LADSPA plugins (cmt) are installed")
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
    #expect(runs.contains { $0.contains(#""chapters":{"note":[{"start":0.1,"title":"One"}"#) })
    let failed = try member("id", of: runs.first { $0.contains(#""state":"failed""#) })
    try take("runs-forget", [failed])
    try take("runs-forget", ["--failed"])
  }

  /// Exports that other names of the same recording replaced, one of which was changed since.
  func superseded() throws {
    for name in ["one", "two", "three"] {
      let pipeline = try place.pipeline(
        """
        pipeline: renamed
        inputs: { note: sound }
        stages: [decode, { export: { formats: [wav], name: \(name) } }]
        """, named: "renamed.yaml")
      try take("run", [pipeline, note, "--out", place.out])
    }
    try place.folder.write("mine", to: "out/one.wav")
    try take("store-prune", ["--dry-run"])
    let pruned = try take("store-prune", [])
    #expect(pruned.first?.contains(#""obstacle":"changed""#) == true, "\(pruned)")
  }

  func care() throws {
    try take("store-info", [])
    try take("store-backup", [])
    try take("store-backup", [place.file("copy.sqlite")])
    try take("store-check", [])
    let info = try take("store-info", [])
    for time in ["checkedAt", "backedUpAt"] {
      #expect(try member(time, of: info.first).hasSuffix("Z"))
    }
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
