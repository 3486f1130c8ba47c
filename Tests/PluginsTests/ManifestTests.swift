import PipelineModel
import Platform
@testable import Plugins
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

  @Test("a default is shown with its unit, and a text stays as it is")
  func units() throws {
    let manifest = try #require(ManifestText(Self.whole).manifest)
    #expect(
      manifest.kinds[0].parameters.map(\.presence) == [
        .defaulted("6 dB"), .defaulted("tanh"),
      ])
  }

  @Test("a comma in a text without quotation marks is told as what it is")
  func commas() throws {
    let text = Self.whole.replacing("gain before the curve", with: "gain, before, the curve")
    let problems = ManifestText(text).problems
    try #require(problems.count == 1, "\(problems)")
    #expect(problems[0].message.contains("it stands behind a comma, where help ends"))
    #expect(problems[0].allowed?.contains(#"help: "gain, before, the curve""#) == true)
    // What is a slip of a known word is told as that.
    let slip = ManifestText(Self.whole.replacing("default: 6", with: "defualt")).problems
    #expect(slip.map(\.suggestion) == ["default"])
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
    #expect(found.contains { $0.contains("\"drive\" begins above its end") }, "\(found)")
    #expect(found.contains { $0.contains("cannot be \"sinh\"") }, "\(found)")
  }

  @Test("names, choices, ranges, units and needs that cannot be are told in one wave")
  func oneWave() {
    let text =
      Self.whole.replacing("plugin: softclip", with: "plugin: Soft Clip")
      .replacing("summary: Round the peaks off\nrun", with: "sumary: x\nneeds: [sox, 5]\nrun")
        + """

              - { name: drive, unit: decibel, range: [3, 0], default: 1, help: x }
              - { name: from, choices: [a, a], default: a, help: x }
              - { name: passes, whole: true, range: [0.5, 3], help: x }
        """
    let found = places(text)
    for words in [
      "1:9 the plugin's name cannot be \"Soft Clip\"", "the manifest needs summary",
      "needs cannot name \"5\"", "the parameter \"drive\" is declared twice",
      "there is no unit \"decibel\"", "the range of \"drive\" begins above its end",
      "a parameter cannot be called \"from\"", "the choice \"a\" is there twice",
      "\"passes\" is a whole number, and its range is not of those",
    ] { #expect(found.contains { $0.contains(words) }, "\(words): \(found)") }
    #expect(found.count == 10, "\(found)")
  }

  @Test("needs are programs, as a list, or programs and packages of Python, as a mapping")
  func needs() throws {
    let list = try #require(ManifestText("needs: [sox]\n" + Self.whole).manifest)
    #expect(list.needs == ["sox"] && list.packages == [])
    let mapping = "needs: { programs: sox, python: [numpy, soundfile] }\n"
    let both = try #require(ManifestText(mapping + Self.whole).manifest)
    #expect(both.needs == ["sox"] && both.packages == ["numpy", "soundfile"])
  }

  @Test("a parameter may be a command, whose program counts as a file")
  func command() throws {
    let line = "\n      - { name: model, command: 99, help: what writes }"
    let kind = try #require(ManifestText(Self.whole + line).manifest?.kinds.first)
    #expect(kind.commands == ["model"])
    #expect(kind.programs(.group(["model": .text("'my model' -x")])) == ["model": "my model"])
    #expect(kind.programs(.group(["model": .text("{model} -x")])) == [:])
    #expect(kind.reads(.group(["model": .text("sh -c x")])).map { $0.hasSuffix("/sh") } == [true])
    #expect(kind.settings(in: .object(["model": .text("sh -c x")])) == ["model=sh -c x"])
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

  @Test(
    "what it reads besides is never everything",
    arguments: ["/", "/etc/", "//./home", "/srv/../etc", "/srv/models"])
  func reads(path: String) {
    let found = places(
      Self.whole.replacing("stages:", with: "limits: { reads: [\"\(path)\"] }\nstages:"))
    let isTold = found.contains { $0.contains("opens more than a plugin needs") }
    #expect(isTold == (path != "/srv/models"))
  }

  @Test(
    "what would steer a terminal, or turn the direction of writing, is told with its place",
    arguments: ["\\e[31m", "\\x9B1m", "\\u202Egnp", "\\u2066", "\\u061C", "\\L", "\\P", "\\b"])
  func steering(text: String) {
    let found = places(
      Self.whole.replacing("help: which curve", with: "help: \"which \(text)\""))
    #expect(found.count == 1, "\(found)")
    #expect(found[0].hasPrefix("12:69 this text has U+"), "\(found)")
    let harmless = Self.whole.replacing("help: which curve", with: "help: \"क्‍ष 👩‍🔬 é\\n\"")
    #expect(places(harmless) == [])
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
