import PipelineModel
import PluginHost
import Testing

@Suite("A manifest says what a plugin is, and every mistake in it is told with its place")
struct ManifestTests {
  private static let whole = """
    plugin: softclip
    version: 1.0.0
    protocol: 1
    summary: Round the peaks off
    run: [./softclip]
    stages:
      - kind: softclip
        type: sound
        summary: Round the peaks off
        parameters:
          - { name: drive, unit: dB, range: [0, 36], default: 6, help: gain before the curve }
          - { name: curve, choices: [tanh, cubic], default: tanh, help: which curve }
    """

  private func places(_ text: String) -> [String] {
    ManifestText(text).problems.map { problem in
      "\(problem.location.map { "\($0.line):\($0.column)" } ?? "-") \(problem.message)"
    }
  }

  @Test("what is right is read")
  func right() throws {
    let read = ManifestText(Self.whole)
    #expect(read.problems == [])
    let manifest = try #require(read.manifest)
    #expect(manifest.name == "softclip")
    #expect(manifest.kinds.map(\.kind) == ["softclip"])
    #expect(manifest.kinds[0].parameters.map(\.name) == ["drive", "curve"])
  }

  @Test("what a single value says wrongly does not hide what contradicts itself elsewhere")
  func everyProblem() {
    let text = Self.whole
      .replacing("version: 1.0.0\n", with: "")
      .replacing("protocol: 1", with: "protocol: 2")
      .replacing("range: [0, 36]", with: "range: [36, 0]")
      .replacing("type: sound", with: "tipe: sound")
      .replacing("default: tanh", with: "default: sinh")
    let found = places(text)
    #expect(found.count == 6, "\(found)")
    #expect(found.contains { $0.hasPrefix("1:1 the manifest needs version") }, "\(found)")
    #expect(found.contains { $0.hasPrefix("2:11 this Spool does not speak protocol 2") })
    #expect(found.contains { $0.hasPrefix("7:5 \"tipe\" is not a parameter") }, "\(found)")
    #expect(found.contains { $0.contains("needs type") }, "\(found)")
    #expect(found.contains { $0.hasPrefix("10:17 the number \"drive\" has no range") }, "\(found)")
    #expect(found.contains { $0.contains("cannot be \"sinh\"") }, "\(found)")
  }

  @Test("what follows from a value that cannot be understood is not told as well")
  func noEcho() {
    let found = places(Self.whole.replacing("range: [0, 36]", with: "range: [0, many]"))
    #expect(found.count == 1, "\(found)")
    #expect(found[0].contains("is a number, not \"many\""))
  }

  @Test(
    "what runs lies in the plugin's folder, or is found on PATH",
    arguments: [
      ("run: [/usr/bin/python3]", "5:7 \"/usr/bin/python3\" leads out of the plugin's folder"),
      ("run: [./../../t.py]", "5:7 \"./../../t.py\" leads out of the plugin's folder"),
      ("run: [a/../../t.py]", "5:7 \"a/../../t.py\" leads out of the plugin's folder"),
      ("run: [python3, ./../t.py]", "5:16 \"./../t.py\" leads out of the plugin's folder"),
      (
        "library: /usr/lib/libc.so.6",
        "5:10 \"/usr/lib/libc.so.6\" leads out of the plugin's folder"
      ),
      ("run: [a/../t.py]", nil), ("run: [python3, /x, ../y]", nil), ("library: hum.so", nil),
    ])
  func ways(line: String, problem: String?) {
    let found = places(Self.whole.replacing("run: [./softclip]", with: line))
    #expect(found == (problem.map { [$0] } ?? []))
  }

  @Test("no text whatever is taken for a plugin, or ends the program")
  func anything() {
    for text in ["", "[]", "plugin", "plugin: [", "stages: [[]]", "stages: [{}]", "run: {}"] {
      let read = ManifestText(text)
      #expect(read.manifest == nil, "\(text)")
      #expect(!read.problems.isEmpty, "\(text)")
    }
  }
}
