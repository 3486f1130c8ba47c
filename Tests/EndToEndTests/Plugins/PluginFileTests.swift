import Foundation
import TestSupport
import Testing

@Suite(
  "Files that parameters of plugins name count by what is in them",
  .enabled(if: Program(named: "python3") != nil, "python3 is not installed"),
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct PluginFileTests {
  /// Multiplies the sound by the number in a file.
  private static let scale = #"""
    import array, json, sys
    source, target = sys.stdin.buffer, sys.stdout.buffer
    def say(data=b"", **message):
        target.write(json.dumps(message | {"bytes": len(data)}).encode() + b"\n" + data)
        target.flush()
    hello = json.loads(source.readline())
    factor = float(open(hello["parameters"]["model"]).read())
    say(type="ready", protocol=1)
    for line in source:
        message = json.loads(line); data = source.read(message.get("bytes", 0))
        if message["type"] == "sound":
            samples = array.array("f", [factor * x for x in array.array("f", data)])
            say(samples.tobytes(), type="sound", frames=message["frames"])
        elif message["type"] == "end": say(type="done")
    """#

  private let place: PluginPlace

  init() throws {
    place = try PluginPlace()
    try place.plugin(
      "scale", "run: [python3, ./scale.py]",
      stages: """
          - kind: scale
            type: sound
            summary: Multiply the sound
            parameters: [{ name: model, path: true, required: true, help: the factor }]
        """)
    try place.write(Self.scale, to: "Plugins/scale/scale.py")
    try Reference.record(place.file("note.wav"), seconds: 1)
  }

  private func run(_ model: String) throws -> SpoolRun {
    let pipeline = try place.write(
      """
      pipeline: p
      inputs: { note: sound }
      stages: [decode, scale: { model: \(model) }, export: { formats: [wav], wav: { bits: float } }]
      """, to: "p.yaml")
    return try place.place.run(pipeline, [place.file("note.wav")], ["--replace"])
  }

  @Test("wherever they lie, and why tells which has changed")
  func contents() throws {
    try place.write("0.5", to: "half.txt")
    let first = try run("half.txt")
    try #require(first.exitCode == 0, "\(first.errorOutput)")
    let input = try Reference.floats(of: place.file("note.wav"))
    let halved = try Reference.floats(of: "\(place.place.out)/note.wav")
    #expect(halved == input.map { $0 / 2 })

    // The same bytes elsewhere are the same work.
    try FileManager.default.createDirectory(
      atPath: place.file("models"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      atPath: place.file("half.txt"), toPath: place.file("models/other.txt"))
    #expect(try run("models/other.txt").made == [])

    // Other bytes at the same place are other work.
    try place.write("0.25", to: "models/other.txt")
    let changed = try run("models/other.txt")
    try #require(changed.exitCode == 0, "\(changed.errorOutput)")
    #expect(changed.made.contains("scale"))
    #expect(
      try Reference.floats(of: "\(place.place.out)/note.wav") == input.map { $0 / 4 })
    let why = try place.spool(["why", "last", "scale"])
    #expect(
      why.text.contains(/because +file model \(models\/other\.txt\): [0-9a-f]{12} → [0-9a-f]{12}/),
      "\(why.text)")
  }

  @Test("what a plugin warns of is told where it fails, too", arguments: ["sound", "file"])
  func warnedBeforeFailure(type: String) throws {
    try place.plugin(
      "wary", "run: [python3, ./wary.py]",
      stages: """
          - kind: wary
            type: \(type)
            summary: warn, and fail
        """
          + (type == "sound"
            ? ""
            : """

                inputs: [{ name: sound, carries: sound }]
                outputs: [{ name: copied, carries: sound }]
            """))
    try place.write(
      """
      import json, sys
      sys.stdin.buffer.readline()
      for message in (
          {"type": "ready", "protocol": 1},
          {"type": "log", "level": "warning", "message": "the model is old"},
          {"type": "error", "message": "it gave up", "cause": "input"},
      ): print(json.dumps(message), flush=True)
      """, to: "Plugins/wary/wary.py")
    let pipeline = try place.write(
      "pipeline: p\ninputs: { note: sound }\nstages: [decode, wary, export: [wav]]", to: "wary.yaml"
    )
    let run = try place.place.run(pipeline, [place.file("note.wav")])
    #expect(run.exitCode == 1)
    #expect(run.errorOutput.contains("it gave up"), "\(run.errorOutput)")
    #expect(run.warnings.contains("the model is old"), "\(run.warnings)")
  }

  @Test("one that is not there is told of, with what to do")
  func missing() throws {
    let run = try run("gone.txt")
    #expect(run.exitCode == 2)
    for words in [
      "scale cannot read ", "/gone.txt: No such file or directory", "allowed: check model",
    ] { #expect(run.errorOutput.contains(words), "\(run.errorOutput)") }
  }

  @Test("a file stage gives sound in any file that can be decoded, and stages below treat it")
  func soundFromFile() throws {
    try place.plugin(
      "copy", "run: [python3, ./copy.py]",
      stages: """
          - kind: copy
            type: file
            summary: Copy the sound
            inputs: [{ name: sound, carries: sound }]
            outputs: [{ name: copied, carries: sound }]
        """)
    try place.write(
      """
      import json, shutil, sys
      hello = json.loads(sys.stdin.readline())
      print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
      shutil.copyfile(hello["inputs"]["sound"], hello["outputs"]["copied"])
      print(json.dumps({"type": "done"}), flush=True)
      """, to: "Plugins/copy/copy.py")
    let pipeline = try place.write(
      """
      pipeline: p
      inputs: { note: sound }
      stages: [decode, copy, gain: 0 dB, export: { formats: [wav], wav: { bits: float } }]
      """, to: "copy.yaml")
    let run = try place.place.run(pipeline, [place.file("note.wav")])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    #expect(
      try Reference.floats(of: "\(place.place.out)/note.wav")
        == Reference.floats(of: place.file("note.wav")))

    try place.write(
      try String(contentsOfFile: place.file("Plugins/copy/copy.py"), encoding: .utf8)
        .replacing("shutil.copyfile(hello[\"inputs\"][\"sound\"], ", with: "open(")
        .replacing("[\"copied\"])", with: "[\"copied\"], \"w\").write(\"noise\")"),
      to: "Plugins/copy/copy.py")
    let wrong = try place.place.run(pipeline, [place.file("note.wav")], ["--replace"])
    #expect(wrong.exitCode == 1)
    let complaint = try #require(wrong.complaint, "\(wrong.errorOutput)")
    #expect(complaint.what.contains("the plugin copy 1.0.0 failed"), "\(complaint.what)")
    #expect(complaint.why.hasPrefix("the sound that it wrote cannot be decoded"))
  }
}
