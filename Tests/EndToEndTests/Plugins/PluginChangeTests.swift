import Foundation
import PipelineModel
import Store
import TestSupport
import Testing

@Suite(
  "Plugins change, go and come back, and every run knows what that means for it",
  .enabled(if: Program(named: "python3") != nil, "python3 is not installed"),
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct PluginChangeTests {
  /// Halves the sound, unless there is no file `go` beside it.
  private static let halve = #"""
    import array, json, os, sys
    source, target = sys.stdin.buffer, sys.stdout.buffer
    def say(data=b"", **message):
        target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\n" + data)
        target.flush()
    source.readline()
    if not os.path.exists(os.path.dirname(os.path.abspath(__file__)) + "/go"):
        say(type="error", message="not yet", cause="environment"); sys.exit(1)
    say(type="ready", protocol=1)
    for line in source:
        message = json.loads(line); data = source.read(message.get("bytes", 0))
        if message["type"] == "sound":
            samples = array.array("f", [x / 2 for x in array.array("f", data)])
            say(samples.tobytes(), type="sound", frames=message["frames"])
        elif message["type"] == "end": say(type="done")
    """#

  /// A place whose plugin lies where only `--plugins` finds it.
  private func place(works: Bool = true) throws -> PluginPlace {
    let place = try PluginPlace()
    try place.plugin("halve", "run: [python3, ./halve.py]")
    try place.write(Self.halve, to: "Plugins/halve/halve.py")
    if works { try place.write("", to: "Plugins/halve/go") }
    try FileManager.default.moveItem(atPath: place.file("Plugins"), toPath: place.file("mine"))
    try place.write(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, halve, { export: wav }, proof]\n",
      to: "p/p.yaml")
    try Reference.record(place.file("note.wav"), seconds: 1)
    return place
  }

  private static let run = [
    "run", "p/p.yaml", "note.wav", "--out", "out", "--plugins", "mine",
  ]

  @Test("resume looks for plugins where the run was told to, and says what changed")
  func resume() throws {
    let place = try place(works: false)
    let failed = try place.spool(Self.run)
    #expect(failed.exitCode == 1)
    #expect(failed.errorOutput.contains("halve 1.0.0: not yet"), "\(failed.errorOutput)")
    try place.write("", to: "mine/halve/go")
    let resumed = try place.spool(["resume"])
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    #expect(
      resumed.errorOutput.contains("warning: files of the plugin halve 1.0.0 have changed"),
      "\(resumed.errorOutput)")
    #expect(FileManager.default.fileExists(atPath: place.file("out/note.wav")))
  }

  @Test("work that another version had begun begins anew, and the version is named as the reason")
  func begunWithAnother() throws {
    let place = try place()
    let id = RunID("20251121-142205-3f9a")
    do {
      let store = try DiskStore(at: place.place.store)
      var record = RunRecord(
        id: id, pipeline: "p", pipelinePath: place.file("p/p.yaml"),
        inputs: ["note": place.file("note.wav")], overrides: [:], startedAt: 1_764_000_000,
        plugins: [
          PluginUse(
            kind: "halve", name: "halve", version: "0.9.0", digest: "00",
            folder: place.file("mine/halve"))
        ])
      record.state = .interrupted
      try store.runs.save(record)
    }
    let resumed = try place.spool(["resume", "--plugins", "mine"])
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    let reason = "the plugin halve was 0.9.0, and is 1.0.0 now"
    let begun = resumed.text.split(separator: "\n").first { $0.hasPrefix("Beginning anew with ") }
    #expect(begun?.contains(reason) == true, "\(resumed.text)")
    let why = try place.spool(["why", "last"]).text
    #expect(why.contains(reason) && !why.contains("no notes"), "\(why)")
  }

  @Test("a plugin that is gone when its run goes on is told of, with where it lay")
  func removed() throws {
    let place = try place(works: false)
    #expect(try place.spool(Self.run).exitCode == 1)
    try FileManager.default.moveItem(atPath: place.file("mine"), toPath: place.file("else"))
    let gone = try place.spool(["resume"])
    #expect(gone.exitCode == 1)
    let complaint = try #require(Complaint(gone.errorOutput), "\(gone.errorOutput)")
    #expect(complaint.what.hasPrefix("the plugin halve 1.0.0, which run "))
    #expect(complaint.what.hasSuffix(" uses, is not there any more"))
    #expect(complaint.why.hasSuffix("/mine/halve"), "\(complaint.why)")
    #expect(complaint.next.contains("--plugins DIR"), "\(complaint.next)")
    // A watch that begins without it knows of it from the runs of its store.
    try FileManager.default.createDirectory(
      atPath: place.file("inbox"), withIntermediateDirectories: true)
    let watch = try place.spool(["watch", "p/p.yaml", "inbox"])
    #expect(watch.exitCode == 2)
    let lost = "the plugin halve 1.0.0, which offers halve, is not there any more: it lay in "
    #expect(watch.errorOutput.contains(lost), "\(watch.errorOutput)")
    #expect(!watch.errorOutput.contains("no stage kind"), "\(watch.errorOutput)")
    try place.write("", to: "else/halve/go")
    let found = try place.spool(["resume", "--plugins", "else"])
    #expect(found.exitCode == 0, "\(found.errorOutput)")

    try place.write("nonsense", to: "else/halve/plugin.yaml")
    let wrong = try place.spool(["pipeline", "plan", "p/p.yaml", "note.wav", "--plugins", "else"])
    #expect(wrong.exitCode == 2)
    #expect(wrong.errorOutput.contains("is left out: its manifest is wrong"))
    #expect(wrong.errorOutput.contains("spool plugin check "), "\(wrong.errorOutput)")
  }

  @Test("why says that another version was used, and the receipt says which")
  func versions() throws {
    let place = try place()
    #expect(try place.spool(Self.run).exitCode == 0)
    let text = try String(contentsOfFile: place.file("mine/halve/plugin.yaml"), encoding: .utf8)
    try place.write(
      text.replacing("version: 1.0.0", with: "version: 1.1.0"), to: "mine/halve/plugin.yaml")
    let again = try place.spool(Self.run + ["--replace", "--json"])
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    let why = try place.spool(["why", "last", "halve"])
    #expect(why.exitCode == 0, "\(why.errorOutput)")
    #expect(
      why.text.contains(/because +plugin halve: 1\.0\.0 [0-9a-f]+ → 1\.1\.0 [0-9a-f]+/),
      "\(why.text)")
    let receipt = try #require(
      Workspace.names(in: place.file("out")).first {
        $0.contains("receipt") || $0.contains("proof")
      })
    let envelope =
      try JSONSerialization.jsonObject(
        with: Data(contentsOf: URL(filePath: place.file("out/\(receipt)")))) as? [String: Any]
    let payload = try #require(
      (envelope?["payload"] as? String).flatMap { Data(base64Encoded: $0) })
    #expect(
      String(decoding: payload, as: UTF8.self).contains(/"plugin halve":"1\.1\.0 [0-9a-f]{12}/))

    // Verification tells what a run here would use, and finds nothing wrong with that.
    let mine = ["SPOOL_PLUGINS": place.file("mine")]
    let verified = try place.spool(["verify", "out"], environment: mine)
    #expect(verified.exitCode == 0, "\(verified.text)\(verified.errorOutput)")
    #expect(!verified.errorOutput.contains("note: the plugin"), "\(verified.errorOutput)")
    try place.write(
      text.replacing("version: 1.0.0", with: "version: 2.0.0"), to: "mine/halve/plugin.yaml")
    let older = try place.spool(["verify", "out"], environment: mine)
    #expect(older.exitCode == 0, "\(older.text)\(older.errorOutput)")
    #expect(
      older.errorOutput.contains(
        /note: the plugin halve was 1\.1\.0 [0-9a-f]{12} when .* and is 2\.0\.0 [0-9a-f]{12} here/),
      "\(older.errorOutput)")

    // The store is whole without the plugin that made what is in it.
    try FileManager.default.removeItem(atPath: place.file("mine"))
    let check = try place.spool(["store", "check"])
    #expect(check.exitCode == 0, "\(check.text)\(check.errorOutput)")
  }

  @Test("what a plugin makes while its files change is not kept, and is made anew")
  func changedMeanwhile() throws {
    let place = try place()
    // It works until its folder has another file.
    try place.write(
      Self.halve.replacing(
        "    if message[\"type\"] == \"sound\":\n",
        with: """
              if message["type"] == "sound":
                  while not os.path.exists(os.path.dirname(os.path.abspath(__file__)) + "/new"):
                      time.sleep(0.02)

          """
      ).replacing("os, sys", with: "os, sys, time"), to: "mine/halve/halve.py")
    let running = try place.place.start(Self.run + ["--json"])
    try #require(try running.waits(for: "\"event\":\"pass\"", times: 1))
    try place.write("", to: "mine/halve/new")
    let changed = try running.end().run
    #expect(changed.exitCode == 1)
    #expect(
      changed.errorOutput.contains("the plugin halve changed while the stage halve worked"),
      "\(changed.errorOutput)")
    #expect(try place.spool(["status", "--check"]).exitCode == 1)
    let resumed = try place.spool(["resume", "--json"])
    #expect(resumed.exitCode == 0, "\(resumed.errorOutput)")
    let finished = resumed.text.split(separator: "\n").filter { $0.contains("\"halve\"") }
    #expect(!finished.contains { $0.contains("\"reused\"") }, "\(resumed.text)")
    #expect(try place.spool(["store", "check"]).exitCode == 0)
  }

  @Test("a program that speaks another protocol is a failure that says which")
  func otherProtocol() throws {
    let place = try place()
    try place.write(
      Self.halve.replacing("protocol=1", with: "protocol=7"), to: "mine/halve/halve.py")
    let result = try place.spool(Self.run)
    #expect(result.exitCode == 1)
    #expect(result.errorOutput.contains("it speaks protocol 7, not 1"), "\(result.errorOutput)")
    #expect(result.errorOutput.contains("get a version of it for this Spool"))
  }

  @Test("a batch takes plugins, too, and its command to go on names them")
  func batch() throws {
    let place = try place(works: false)
    try FileManager.default.createDirectory(
      atPath: place.file("notes"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: place.file("note.wav"), toPath: place.file("notes/note.wav"))
    let words = ["batch", "p/p.yaml", "notes", "--out", "out", "--plugins", "mine"]
    #expect(try place.spool(words).exitCode == 1)
    // A single file of it finds the plugins, too, although nobody names them again.
    let alone = try place.spool(["resume"])
    #expect(alone.exitCode == 1)
    #expect(alone.errorOutput.contains("halve 1.0.0: not yet"), "\(alone.errorOutput)")
    #expect(alone.errorOutput.contains("--plugins"), "\(alone.errorOutput)")
    try FileManager.default.moveItem(atPath: place.file("mine"), toPath: place.file("else"))
    let lost = try place.spool(["resume"])
    #expect(lost.errorOutput.contains(" uses, is not there any more"), "\(lost.errorOutput)")
    try FileManager.default.moveItem(atPath: place.file("else"), toPath: place.file("mine"))
    try place.write("", to: "mine/halve/go")
    let one = try place.spool(["resume"])
    #expect(one.exitCode == 0, "\(one.errorOutput)")
    #expect(one.errorOutput.contains("files of the plugin halve 1.0.0 have changed"))
    let again = try place.spool(words)
    #expect(again.exitCode == 0, "\(again.errorOutput)")
    #expect(FileManager.default.fileExists(atPath: place.file("out/note.wav")))
  }
}
