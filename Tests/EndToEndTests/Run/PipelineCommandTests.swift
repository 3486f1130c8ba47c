import Foundation
import TestSupport
import Testing

@Suite("Pipelines can be checked, drawn, begun and looked up")
struct PipelineCommandTests {
  /// Every pipeline of the package.
  static let pipelines = Workspace.names(in: PackageFiles.pipeline("")).filter {
    $0.hasSuffix(".yaml")
  }

  @Test("the pipelines that come with Spool are found")
  func found() {
    #expect(Set(Self.pipelines).isSuperset(of: ["session-mix.yaml", "archive.yaml"]))
  }

  /// Whether Python can judge schemas here.
  private static let hasValidator =
    (try? Program(named: "python3")?.run(["-c", "import jsonschema, yaml"]).exitCode) == 0

  @Test("every problem is told at once, with its place, what is allowed, and the nearest word")
  func problems() throws {
    let place = try Workspace()
    let path = try place.pipeline(
      """
      pipeline: wrong
      inputs: { note: sound }
      stages:
        - decode
        - eqq: { bands: [] }
        - compress: { threshold: 18 Hz, ration: 3 }
        - export: [wav, wma]
          from: nobody
      """)
    let expected = [
      "\(path):5:5:", "\"eq\"", "\(path):5:19:", "\(path):6:28:", "-80 dB", "\(path):6:35:",
      "\"ratio\"",
      "\(path):7:19:", "wav, m4a, alac, flac", "\(path):8:11:",
    ]
    let result = try place.spool(["pipeline", "check", path])
    #expect(result.exitCode == 2)
    #expect(result.text == "")
    for words in expected {
      #expect(result.errorOutput.contains(words), "\(words)\n\(result.errorOutput)")
    }
    #expect(result.errorOutput.contains("6 problems"))

    let lines = try place.spool(["pipeline", "check", path, "--json"]).text.split(separator: "\n")
    let problems = try lines.map { try JSONDecoder().decode(Place.self, from: Data($0.utf8)) }
    #expect(
      problems.map { [$0.line, $0.column] } == [
        [5, 5], [5, 19], [6, 28], [6, 35], [7, 19], [8, 11],
      ])

    // A run reports the same, and does nothing.
    let run = try place.run(path, ["x.wav"])
    #expect(run.exitCode == 2)
    #expect(run.events.map(\.event) == ["error"])
  }

  @Test("absurd parameters are refused, all of them, each with what is allowed")
  func absurd() throws {
    let place = try Workspace()
    let path = try place.pipeline(
      """
      pipeline: absurd
      inputs: { note: sound }
      stages:
        - decode: { sample-rate: 999 MHz, channels: 0 }
        - eq: { bands: [] }
        - gain: 1e9 dB
        - compress: { ratio: -3, attack: .nan }
        - normalize: { loudness: -16 LUFS, peak: -1 dB }
        - export: { formats: [wav, wav] }
      """)
    let result = try place.spool(["pipeline", "check", path])
    #expect(result.exitCode == 2)
    let places = ["4:28", "4:47", "5:18", "6:11", "7:24", "7:36", "8:5", "9:5"]
    for place in places {
      #expect(result.errorOutput.contains("\(path):\(place): error:"), "\(place)")
    }
    let allowed = result.errorOutput.split(separator: "\n").filter { $0.contains("allowed:") }
    #expect(allowed.count == places.count)
  }

  @Test("the pipelines that come with Spool have no problems", arguments: pipelines)
  func noProblems(name: String) throws {
    let result = try Workspace().spool(["pipeline", "check", PackageFiles.pipeline(name)])
    #expect(mistakes(in: result) == [], "\(result.errorOutput)")
  }

  /// What is wrong with a pipeline wherever it is: this machine may lack a plugin's program.
  private func mistakes(in result: Program.Result) -> [Substring] {
    result.errorOutput.split(separator: "\n").filter {
      $0.contains(" error: ") && !$0.contains("cannot be started") && !$0.contains("cannot start")
    }
  }

  @Test(
    "the schema accepts what Spool accepts, and refuses what it refuses",
    .enabled(if: hasValidator, "Python's jsonschema and yaml are not installed"))
  func schema() throws {
    let place = try Workspace()
    let schema = try place.spool(["pipeline", "schema", "--plugins", PackageFiles.plugin("")])
    #expect(schema.exitCode == 0)
    let schemaPath = try place.folder.write(schema.text, to: "schema.json")
    let wrong = [
      "pipeline: x\ninputs: { a: sound }\nstages: [{ eqq: {} }]\n",
      "pipeline: x\ninputs: { a: sound }\nstages: [{ compress: { ration: 3 } }]\n",
      "pipeline: x\ninputs: { a: sound }\nstages: [{ export: [wma] }]\n",
      "pipeline: x\ninputs: { a: sound }\nstages: [decode]\nstagse: []\n",
    ]
    let wrongPaths = try wrong.enumerated().map {
      try place.pipeline($0.element, named: "wrong-\($0.offset).yaml")
    }
    for path in Self.pipelines.map(PackageFiles.pipeline) + wrongPaths {
      let validation = try #require(Program(named: "python3")).run([
        "-c",
        """
        import json, sys, yaml, jsonschema
        schema = json.load(open(sys.argv[1]))
        jsonschema.validators.validator_for(schema).check_schema(schema)
        jsonschema.validate(yaml.safe_load(open(sys.argv[2])), schema)
        """, schemaPath, path,
      ])
      #expect((validation.exitCode == 0) == !wrongPaths.contains(path), "\(path)")
      let check = try place.spool(["pipeline", "check", path])
      #expect(mistakes(in: check).isEmpty == (validation.exitCode == 0), "\(path)")
    }
  }

  @Test("a copy of a shipped pipeline keeps its comments, and goes by a name of its own")
  func copy() throws {
    let place = try Workspace()
    let result = try place.spool(["pipeline", "new", "my-talks.yaml", "--from", "interview"])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    let copy = try String(contentsOfFile: place.file("my-talks.yaml"), encoding: .utf8)
    let original = try String(
      contentsOfFile: PackageFiles.pipeline("interview.yaml"), encoding: .utf8)
    #expect(
      copy
        == original.replacingOccurrences(of: "Pipelines/interview.yaml", with: "my-talks.yaml")
        .replacingOccurrences(of: "\npipeline: interview\n", with: "\npipeline: my-talks\n")
        .replacingOccurrences(of: "{stem}.interview", with: "{stem}.my-talks"))
    #expect(try place.spool(["pipeline", "check", "my-talks"]).exitCode == 0)
    // A copy that needs plugins says where they are.
    let warm = try place.spool([
      "pipeline", "new", "warm.yaml", "--from", PackageFiles.pipeline("warm-voice.yaml"),
    ])
    #expect(warm.text.contains("pipeline check warm.yaml --plugins /"), "\(warm.text)")
    let none = try place.spool(["pipeline", "new", "other.yaml", "--from", "interwiew"])
    #expect(none.exitCode == 2)
    #expect(!FileManager.default.fileExists(atPath: place.file("other.yaml")))
  }

  @Test("a copy says what a run of it needs, and its exports have names of their own")
  func copiedNames() throws {
    let place = try Workspace()
    func copy(_ original: String) throws -> (said: String, text: String) {
      let path = place.file("my-\(original).yaml")
      let result = try place.spool(["pipeline", "new", path, "--from", original])
      #expect(result.exitCode == 0, "\(result.errorOutput)")
      let names = { (text: String) in text.matches(of: /\{stem\}\.[a-z.-]+/).map(\.output) }
      let text = try String(contentsOfFile: path, encoding: .utf8)
      let before = try String(
        contentsOfFile: PackageFiles.pipeline("\(original).yaml"), encoding: .utf8)
      #expect(names(text).count == names(before).count)
      #expect(Set(names(text)).isDisjoint(with: names(before)))
      return (result.text, text)
    }
    #expect(try copy("session-mix").said.contains("my-session-mix.yaml SESSION runs it"))
    #expect(try copy("minutes").said.contains("RECORDING"))
    #expect(try copy("archive").text.contains("{stem}.my-archive.listening"))
  }

  @Test("a name means the current folder's pipeline first, then the user's, then the shipped one")
  func order() throws {
    let place = try Workspace()
    let environment = [
      "XDG_CONFIG_HOME": place.file("config"), "XDG_DATA_HOME": place.file("data"),
    ]
    let folders = ["", "config/spool/pipelines/", "data/spool/pipelines/"]
    for folder in folders {
      try FileManager.default.createDirectory(
        atPath: place.file(folder), withIntermediateDirectories: true)
      _ = try place.folder.write(
        "pipeline: x\nsummary: in \(folder)\ninputs: { a: sound }\nstages: [decode, { export: wav }]\n",
        to: folder + "voice-note.yaml")
    }
    // Other YAML in the current folder is no pipeline.
    _ = try place.folder.write("channels: []\n", to: "session.yaml")
    for folder in folders + ["Clean a voice note"] {
      let listing = try place.spool(["pipeline", "list"], environment: environment)
      #expect(listing.errorOutput.contains("/usr/share/spool/pipelines"))
      let list = listing.text
      #expect(!list.contains("session "), "\(list)")
      let line = list.split(separator: "\n").first { $0.hasPrefix("voice-note ") }
      #expect(line?.contains(folder.isEmpty ? "in" : folder) == true, "\(list)")
      let plan = try place.spool(["pipeline", "graph", "voice-note"], environment: environment)
      #expect(plan.text.contains("gate") == (folder == "Clean a voice note"), "\(plan.text)")
      if folder != "Clean a voice note" {
        try FileManager.default.removeItem(atPath: place.file(folder + "voice-note.yaml"))
      }
    }
  }

  @Test("a new pipeline has no problems, and is never written over anything")
  func new() throws {
    let place = try Workspace()
    let path = place.file("my notes.yaml")
    let result = try place.spool(["pipeline", "new", path])
    #expect(result.exitCode == 0, "\(result.errorOutput)")
    #expect(try place.spool(["pipeline", "check", path]).exitCode == 0)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let again = try place.spool(["pipeline", "new", path])
    #expect(again.exitCode == 1)
    #expect(Complaint(again.errorOutput) != nil, "\(again.errorOutput)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  @Test("graphs name every step, and Graphviz takes the DOT", arguments: pipelines)
  func graph(name: String) throws {
    let place = try Workspace()
    let mermaid = try place.spool(["pipeline", "graph", PackageFiles.pipeline(name)])
    #expect(mermaid.exitCode == 0, "\(mermaid.errorOutput)")
    #expect(mermaid.text.hasPrefix("flowchart TD\n"))
    let dot = try place.spool(["pipeline", "graph", PackageFiles.pipeline(name), "--format", "dot"])
    #expect(dot.text.hasPrefix("digraph"))
    let arrows = { (text: String, arrow: String) in text.split(separator: arrow).count - 1 }
    #expect(arrows(mermaid.text, "-->") == arrows(dot.text, "->"))
    if let graphviz = Program(named: "dot") {
      let file = try place.folder.write(dot.text, to: "graph.dot")
      #expect(try graphviz.run(["-Tsvg", file]).exitCode == 0)
    }
  }

  @Test("stages lists every kind, and shows each with units, ranges and defaults")
  func stages() throws {
    let place = try Workspace()
    let json = try place.spool(["stages", "--json"])
    let kinds = try json.text.split(separator: "\n").map {
      try JSONDecoder().decode(Kind.self, from: Data($0.utf8)).kind
    }
    let known = [
      "decode", "click", "eq", "gate", "compress", "gain", "limit", "normalize", "fade", "trim",
      "cut",
      "silence", "speed", "mono", "stereo", "channels", "resample", "measure", "export",
      "waveform", "spectrogram", "loudness-curve",
    ]
    #expect(Set(kinds).isSuperset(of: known))
    let list = try place.spool(["stages"])
    #expect(list.exitCode == 0)
    for kind in kinds {
      #expect(list.text.contains("\n\(kind) ") || list.text.hasPrefix("\(kind) "), "\(kind)")
      let page = try place.spool(["stages", kind])
      #expect(page.exitCode == 0 && page.text.contains(kind), "\(kind)")
    }
    let gate = try place.spool(["stages", "gate"]).text
    for word in ["threshold", "attack", "hold", "release", "range", "dB", "ms"] {
      #expect(gate.contains(word), "\(word)")
    }
  }

  private struct Place: Decodable {
    let line: Int
    let column: Int
  }
  private struct Kind: Decodable {
    let kind: String
  }
}
