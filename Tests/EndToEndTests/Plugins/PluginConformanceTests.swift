import Foundation
import TestSupport
import Testing

@Suite(
  "The test of plugins finds what does not keep to the protocol",
  .enabled(if: Program(named: "python3") != nil, "python3 is not installed"))
struct PluginConformanceTests {
  /// What one check said.
  private struct Line: Decodable {
    let check: String
    let outcome: String
    let detail: String
  }

  private static let sound = #"""
    import array, json, sys, time
    source, target = sys.stdin.buffer, sys.stdout.buffer
    def say(data=b"", **message):
        target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\n" + data)
        target.flush()
    hello = json.loads(source.readline())
    say(type="ready", protocol=1, snapshots=True, latency=0)
    channels, rate, p = hello["format"]["channels"], hello["format"]["rate"], hello["parameters"]
    state = [0]
    for line in source:
        message = json.loads(line); data = source.read(message.get("bytes", 0))
        if message["type"] == "sound":
            samples = array.array("f", data)
            for n in range(len(samples)): samples[n] = samples[n] * p["gain"] + state[0] * 1e-6
            state[0] += 1 if message["frames"] else 0
            #flaw
            say(samples.tobytes(), type="sound", frames=message["frames"])
        elif message["type"] == "snapshot": say(json.dumps(state).encode(), type="snapshot")
        elif message["type"] == "restore": state = json.loads(data); say(type="restored")
        elif message["type"] == "end": say(type="done")
    """#

  private func lines(
    _ place: PluginPlace, _ code: Int32 = 4, only check: String? = nil
  ) throws -> [String: Line] {
    let result = try place.spool(
      ["plugin", "test", "x", "--json"] + (check.map { ["--only", $0] } ?? []))
    #expect(result.exitCode == code, "\(result.text)\(result.errorOutput)")
    let lines = try result.text.split(separator: "\n").map {
      try JSONDecoder().decode(Line.self, from: Data($0.utf8))
    }
    return Dictionary(uniqueKeysWithValues: lines.map { ($0.check, $0) })
  }

  private func soundPlace(_ edits: [(String, String)]) throws -> PluginPlace {
    let place = try PluginPlace()
    try place.plugin(
      "x", "run: [python3, ./x.py]\nlimits: { time: 5 s }",
      stages: """
          - kind: x
            type: sound
            summary: something
            parameters: [{ name: gain, range: [0, 10], default: 1, help: how much }]
        """)
    var text = Self.sound
    for (old, new) in edits {
      #expect(text.contains(old))
      text = text.replacing(old, with: new)
    }
    try place.write(text, to: "Plugins/x/x.py")
    return place
  }

  private static let good = ("state[0] += 1 if message[\"frames\"] else 0", "pass")

  @Test("a plugin without a flaw passes everything")
  func good() throws {
    let lines = try lines(try soundPlace([Self.good]), 0)
    #expect(lines.values.allSatisfy { $0.outcome == "passed" }, "\(lines)")
    #expect(lines.count == 14)
  }

  @Test(
    "each flaw is found by the check that is for it",
    arguments: [
      // What depends on how the sound is cut.
      ("#flaw", "pass", "block sizes", "cut into blocks of"),
      ("#flaw", "samples[0:1] = array.array('f', [time.time() % 1])", "two equal runs", "frame 0"),
      ("#flaw", "if rate == 16000: sys.exit(3)", "sample rates", "at 16000 Hz"),
      ("#flaw", "if channels == 7: sys.exit(3)", "channels", "at 7 channels"),
      ("#flaw", "if message['frames'] == 997: samples.pop()", "odd lengths", "997 frames"),
      (
        "#flaw", "samples = array.array('f', [x * 1e38 for x in samples])", "loud sound",
        "no number"
      ),
      ("json.dumps(state)", "json.dumps([7])", "snapshots", "gone on with at frame 0"),
      ("latency=0", "latency=40", "latency", "40 frames late, and is 0"),
      ("latency=0", "latency=-1", "latency", "-1 frames late"),
      ("#flaw", "if p['gain'] == 10: sys.exit(3)", "parameters", "with gain: 10"),
      (
        "elif message[\"type\"] == \"end\"",
        "elif message[\"type\"][:2] == \"x-\": sys.exit(3)\n"
          + "    elif message[\"type\"] == \"end\"", "unknown messages", "exit code 3"
      ),
      ("say(type=\"done\")", "say(type=\"done\"); time.sleep(30)", "start and end", "did not end"),
    ])
  func flaws(old: String, new: String, check: String, words: String) throws {
    let edits = check == "block sizes" ? [(old, new)] : [Self.good, (old, new)]
    let line = try #require(try lines(try soundPlace(edits), only: check)[check])
    #expect(line.outcome == "failed", "\(line)")
    #expect(line.detail.contains(words), "\(line.detail)")
  }

  @Test(
    "one that calls a program of the user's choice is skipped without one, and says what it needs")
  func chosenProgram() throws {
    let folder = PackageFiles.plugin("transcribe-external")
    let result = try PluginPlace().spool(["plugin", "test", folder])
    #expect(result.exitCode == 0, "\(result.text)\(result.errorOutput)")
    #expect(result.text.contains("--set command='PROGRAM …' names it"), "\(result.text)")
    #expect(result.text.contains("0 passed, 10 skipped"), "\(result.text)")
  }

  @Test("it may read the files and start the programs that parameters name")
  func namedFiles() throws {
    let place = try PluginPlace()
    try place.write("print('said')\n", to: "private/say.py")
    try place.write("#!/bin/sh\nexec cat \"$1\"\n", to: "private/show.sh")
    let tool = place.file("private/show.sh")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool)
    try place.plugin(
      "x", "run: [python3, ./x.py]\nlimits: { time: 5 s }",
      stages: """
          - kind: x
            type: file
            summary: something
            inputs: [{ name: sound, carries: sound }]
            outputs: [{ name: said, carries: file }]
            parameters:
              - { name: command, command: 200, required: true, help: what shows }
              - { name: source, path: true, required: true, help: what is shown }
        """)
    try place.write(
      #"""
      import json, shlex, subprocess, sys
      hello = json.loads(sys.stdin.buffer.readline())
      print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
      p = hello["parameters"]
      said = subprocess.run(shlex.split(p["command"]) + [p["source"]], capture_output=True, check=True)
      open(hello["outputs"]["said"], "wb").write(said.stdout)
      print(json.dumps({"type": "done"}), flush=True)
      """#, to: "Plugins/x/x.py")
    let result = try place.spool([
      "plugin", "test", "x", "--only", "outputs", "--set", "command=private/show.sh", "--set",
      "source=\(place.file("private/say.py"))",
    ])
    #expect(result.exitCode == 0, "\(result.text)\(result.errorOutput)")
    #expect(result.text.contains("said of 14 bytes"), "\(result.text)")
  }

  @Test("one that hangs is waited for once, and the rest is not tried")
  func hang() throws {
    let place = try soundPlace([
      Self.good, ("#flaw", "time.sleep(60 if message['frames'] == 1 else 0)"),
    ])
    let begin = ContinuousClock.now
    let lines = try lines(place)
    #expect(ContinuousClock.now - begin < .seconds(40))
    #expect(lines["one frame"]?.outcome == "failed")
    #expect(lines["one frame"]?.detail.contains("gave no \"sound\" within 5 s") == true)
    #expect(lines["parameters"]?.outcome == "skipped")
    #expect(lines["parameters"]?.detail == "not tried: it kept Spool waiting")
  }

  private static let file = #"""
    import json, os, sys
    hello = json.loads(sys.stdin.readline())
    def say(**message): print(json.dumps(message), flush=True)
    say(type="ready", protocol=1)
    text = open(hello["inputs"]["text"], "rb").read()
    done = int(hello["note"] or 0)
    for step in range(done, 4):
        say(type="progress", done=(step + 1) / 4)
        say(type="note", text=str(step + 1))
    #flaw
    with open(hello["outputs"]["figures"], "w") as out: json.dump({"bytes": len(text)}, out)
    say(type="done")
    """#

  private func filePlace(
    _ old: String = "#flaw", _ new: String = "pass", carries kind: String = "measurement"
  ) throws -> PluginPlace {
    let place = try PluginPlace()
    try place.plugin(
      "x", "run: [python3, ./x.py]\nlimits: { time: 40 s }",
      stages: """
          - kind: x
            type: file
            summary: something
            inputs: [{ name: text, carries: file }, { name: more, carries: sound, optional: true }]
            outputs: [{ name: figures, carries: \(kind) }]
        """)
    #expect(Self.file.contains(old))
    try place.write(Self.file.replacing(old, with: new), to: "Plugins/x/x.py")
    return place
  }

  @Test("a file plugin without a flaw passes everything that applies")
  func goodFile() throws {
    let lines = try lines(try filePlace(), 0)
    #expect(lines["notes"]?.outcome == "passed")
    #expect(lines["optional inputs"]?.outcome == "passed")
    #expect(lines["progress"]?.detail == "told 4 times, from 0 to 1")
    #expect(lines["parameters"]?.outcome == "skipped")
    #expect(lines.values.count { $0.outcome == "passed" } == 9, "\(lines)")
  }

  @Test(
    "each flaw of a file plugin is found",
    arguments: [
      (
        "outputs\"][\"figures\"]", "temporary\"] + \"/x\"", "start and end",
        "has not written figures"
      ),
      ("(step + 1) / 4", "step * 50", "progress", "at 50.0; 0 to 1"),
      ("(step + 1) / 4", "1 - step / 8", "progress", "goes back from 1.0"),
      ("len(text)", "int(os.urandom(7).hex(), 16)", "two equal runs", "from byte"),
      ("len(text)", "done", "notes", "gone on with after its first note"),
      ("json.dump({\"bytes\": len(text)}, out)", "out.write(\"{\")", "outputs", "no JSON object"),
      ("#flaw", "text.decode()", "odd input", "exit code 1"),
      ("#flaw", "1 / len(text)", "empty input", "exit code 1"),
      ("#flaw", "hello[\"inputs\"][\"more\"]", "optional inputs", "exit code 1"),
    ])
  func fileFlaws(old: String, new: String, check: String, words: String) throws {
    let line = try #require(try lines(try filePlace(old, new), only: check)[check])
    #expect(line.outcome == "failed", "\(line)")
    #expect(line.detail.contains(words), "\(line.detail)")
  }

  @Test(
    "a file plugin may write words in the formats that tell what they are, and in no other",
    arguments: [
      (#"WEBVTT\n\n00:00.200 --> 00:00.900\na cat\n"#, 0), (#"and so on\n"#, 4),
    ])
  func formatsOfWords(text: String, code: Int) throws {
    let place = try filePlace(
      "json.dump({\"bytes\": len(text)}, out)", "out.write(\"\(text)\")", carries: "transcript")
    let line = try #require(try lines(place, Int32(code), only: "outputs")["outputs"])
    #expect(code == 0 || line.detail.contains("its figures is no transcript"), "\(line)")
  }

  @Test("an empty input may be refused in the plugin's own words")
  func refusal() throws {
    let refusal =
      #"if not text: say(type="error", message="there is nothing to count"); sys.exit(1)"#
    let lines = try lines(try filePlace("#flaw", refusal), 0)
    #expect(lines["empty input"]?.detail.contains("there is nothing to count") == true, "\(lines)")
  }

  @Test("people get a table and its sum, and a wrong manifest is shown as check shows it")
  func table() throws {
    let place = try soundPlace([Self.good, ("latency=0", "latency=40")])
    let only = ["--only", "start and end", "--only", "latency"]
    let result = try place.spool(["plugin", "test", "Plugins/x"] + only)
    #expect(result.exitCode == 4)
    #expect(
      result.text.hasPrefix("x 1.0.0  Plugins/x\n\n  x\n    start and end     passed   ready"))
    #expect(
      result.text.contains("\n    latency           failed   it says that it is 40 frames late"))
    #expect(result.text.hasSuffix("\n1 passed, 1 failed\n"), "\(result.text)")
    let strange = try place.spool(["plugin", "test", "x", "--only", "latensy"])
    #expect(strange.exitCode == 2)
    #expect(strange.errorOutput.contains("did you mean \"latency\"?"), "\(strange.errorOutput)")
    try place.plugin("x", "run: [python3, ./x.py]\nnonsense: 1")
    let wrong = try place.spool(["plugin", "test", "Plugins/x"])
    #expect(wrong.exitCode == 2)
    #expect(wrong.errorOutput.contains("Plugins/x/plugin.yaml:6:1: error:"), "\(wrong.errorOutput)")
  }
}
