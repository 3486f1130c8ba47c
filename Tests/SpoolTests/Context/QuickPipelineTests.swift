import PipelineModel
import Platform
import SoundEngine
import Stages
import TestSupport
import Testing
@testable import spool

@Suite("A quick command's pipeline is text that a user could have written")
struct QuickPipelineTests {
  @Test(
    "and names of every kind come back from it",
    arguments: [
      "plain", "it: \"quoted\" # no comment", "back\\slash", "- dash", "&anchor *alias !tag",
      "line\nfeed\ttab", "\u{85}next\u{2028}line", "\u{202E}right to left", "\u{FEFF}mark",
      "é 日本 😀",
      "{stem}", "'", "%41", "\u{7F}\u{1}", "null", "~", " space ",
    ])
  func quoting(name: String) throws {
    let text = QuickPipeline.quoted(name)
    #expect(text.unicodeScalars.allSatisfy { !$0.isSteering })
    let document = YAMLDocument("name: \(text)\n")
    #expect(document.problems == [])
    guard case .mapping(let entries)? = document.root?.content,
      case .scalar(let read, isQuoted: true)? = entries.first?.value.content
    else {
      Issue.record("no quoted scalar: \(text)")
      return
    }
    #expect(ExactText(read) == ExactText(name))
  }

  @Test("in one line a stage, with what was chosen and nothing else")
  func text() {
    let pipeline = QuickPipeline(
      name: "normalize", inputs: "recording: sound",
      stages: [
        .init("decode", ["from": "$recording", "channels": nil]),
        .init("measure", id: "before"),
        .normalize(loudness: "-16 LUFS", truePeak: "-1 dBTP"),
        .export([.mp3, .flac], name: "a: b", bits: "16", bitRate: "192 kbit/s"),
      ])
    #expect(
      pipeline.text.hasSuffix(
        """
        pipeline: normalize
        inputs: { recording: sound }
        stages:
          - decode: { from: $recording }
          - measure: {}
            id: before
          - normalize: { loudness: -16 LUFS, true-peak: -1 dBTP }
          - export: { formats: [mp3, flac], flac: { bits: 16 }, mp3: { bit-rate: 192 kbit/s }, name: "a: b" }

        """))
  }

  @Test("with tags and a cover as they were typed, whatever they hold")
  func tags() throws {
    let export = QuickPipeline.Stage.export(
      [.mp3], name: nil, bits: nil, bitRate: nil,
      tags: [("title", "a: \"b\" $c"), ("track", "3/12")], cover: "/x/it's.png")
    let text = QuickPipeline(
      name: "convert", inputs: "recording: sound", stages: [.init("decode"), export]
    ).text
    #expect(
      text.hasSuffix(
        """
          - export: { formats: [mp3], metadata: { title: "a: \\"b\\" $c", track: "3/12" }, cover: "/x/it's.png" }

        """))
    let definition = try #require(ParsedPipeline(text).definition)
    #expect(Plan.problems(in: definition, catalog: .builtIn).map(\.message).count == 1)
  }

  @Test("and spool clean has the stages of the pipeline voice-note")
  func cleaning() throws {
    let clean = QuickPipeline(
      name: "clean", inputs: "recording: sound",
      stages: [.init("decode", ["from": "$recording"])]
        + QuickPipeline.cleaning(.normalize(loudness: "-16 LUFS", truePeak: "-1 dBTP"))
        + [.export([.wav], name: nil, bits: nil, bitRate: nil)])
    let path = PackageFiles.pipeline("voice-note.yaml")
    let note = try TextFile.read("the pipeline", path)
    #expect(try stages(of: clean.text, input: "recording") == stages(of: note, input: "note"))
  }

  /// What is between the first and the last stage, with defaults, in base units.
  private func stages(of text: String, input: String) throws -> [String] {
    let definition = try #require(
      ParsedPipeline(text, knownKinds: StageCatalog.builtIn.kinds).definition)
    let plan = try Plan(definition, catalog: .builtIn, inputs: [input: "/a.wav"])
    return plan.steps.dropFirst().dropLast().map {
      "\($0.descriptor.kind) \($0.parameters.canonicalJSON)"
    }
  }
}

@Suite("--out says where the results of a quick command go")
struct QuickDestinationTests {
  private func destination(
    _ out: String, _ formats: [ExportFormat] = [], count: Int = 1, isFolder: Bool = false
  ) throws(SpoolError) -> QuickDestination {
    try QuickDestination(out, formats: formats, fileCount: count, isFolder: isFolder)
  }

  @Test("a file for one recording, whose ending says the format")
  func file() throws {
    #expect(try destination("out.mp3") == .file(folder: ".", stem: "out", format: .mp3))
    #expect(try destination("/out.wav") == .file(folder: "/", stem: "out", format: .wav))
    #expect(try destination("a/b.c.flac") == .file(folder: "a/", stem: "b.c", format: .flac))
    #expect(try destination("x.alac.m4a") == .file(folder: ".", stem: "x", format: .alac))
    #expect(try destination("x.m4a", [.m4a]) == .file(folder: ".", stem: "x", format: .m4a))
  }

  @Test("a folder where it is one, or ends like one, or is for several recordings")
  func folder() throws {
    #expect(try destination("out/") == .folder("out/"))
    #expect(try destination("out.wav", isFolder: true) == .folder("out.wav"))
    #expect(try destination("out", count: 2) == .folder("out"))
    #expect(try destination("out/", [.mp3, .wav]) == .folder("out/"))
  }

  @Test(
    "and what cannot be is refused with what can",
    arguments: [
      ("out", [], 1, "--out out.wav, or --out out/"),
      ("out", [ExportFormat.mp3], 1, "--out out.mp3"),
      ("out.xyz", [], 1, "--out out.wav"), ("OUT.MP3", [], 1, "--out OUT.mp3"),
      (".wav", [], 1, "--out out.wav"), ("out.mp3", [], 2, "--out FOLDER/"),
      ("out.wav", [.mp3], 1, "--out out.mp3"), ("out.m4a", [.alac], 1, "--out out.alac.m4a"),
      ("out.wav", [.wav, .mp3], 1, "--out FOLDER/"), ("talk.mp4", [], 1, "--out talk.m4a"),
      ("-", [], 1, "--out FILE"), ("", [], 1, "--out FILE"), (".a.wav", [], 1, "--out _a.wav"),
      ("d/a\\b.wav", [], 1, "--out d/a_b.wav"),
    ])
  func refused(out: String, formats: [ExportFormat], count: Int, advice: String) throws {
    let error = try #require(throws: SpoolError.self) {
      try destination(out, formats, count: count)
    }
    #expect(error.kind == .usage)
    #expect(error.advice?.contains(advice) == true, "\(error)")
  }

  @Test("and the name is given to the pipeline only where it is another than the recording's")
  func names() throws {
    #expect(try destination("b/a.mp3").exportName(of: "/x/a.wav") == nil)
    #expect(try destination("b/c.mp3").exportName(of: "/x/a.wav") == "c")
    #expect(try destination("b/").exportName(of: "/x/a.wav") == nil)
    #expect(try destination("{live}.mp3").exportName(of: "/x/{live}.wav") == nil)
    #expect(throws: SpoolError.self) { try destination("{live}.mp3").exportName(of: "/x/a.wav") }
  }
}
