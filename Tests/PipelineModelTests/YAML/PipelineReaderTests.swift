@testable import PipelineModel
import Testing

@Suite("The top of a pipeline file")
struct PipelineReaderTests {
  /// Problems of a pipeline that has these lines, and, behind them, one good stage.
  private func problems(_ head: String) -> [String] {
    ParsedPipeline(head + "\nstages: [decode]\n").problems.map(\.report)
  }

  @Test(
    "must be a mapping",
    arguments: [
      ("", "1:1 the pipeline is empty [\(Allowed.keys)]"),
      ("~", "1:1 the pipeline is empty [\(Allowed.keys)]"),
      ("\n  just words\n", "2:3 a pipeline is a mapping, not \"just words\" [\(Allowed.keys)]"),
      ("- decode\n", "1:1 a pipeline is a mapping, not a list [\(Allowed.keys)]"),
    ])
  func root(text: String, report: String) {
    let parsed = ParsedPipeline(text)
    #expect(parsed.definition == nil)
    #expect(parsed.problems.map(\.report) == [report])
  }

  @Test(
    "needs a name that can stand in a file name",
    arguments: [
      ("summary: x", "1:1 the pipeline has no name [pipeline: name]"),
      ("pipeline:", "1:10 pipeline has no value [\(Allowed.name)]"),
      ("pipeline: [a]", "1:11 pipeline is a list [\(Allowed.name)]"),
      ("pipeline: a b", "1:11 \"a b\" cannot be a value of pipeline [\(Allowed.name)]"),
      ("pipeline: ../x", "1:11 \"../x\" cannot be a value of pipeline [\(Allowed.name)]"),
      ("pipeline: größe", "1:11 \"größe\" cannot be a value of pipeline [\(Allowed.name)]"),
    ])
  func name(head: String, report: String) {
    #expect(problems(head) == [report])
  }

  @Test("takes every name that keeps the rule", arguments: ["a", "voice-note", "V2.1_x", "9"])
  func goodName(name: String) {
    #expect(problems("pipeline: \(name)") == [])
  }

  @Test(
    "has no unknown keys",
    arguments: [
      ("input: {}", "\"input\" is not a part of a pipeline", "inputs"),
      ("Summary: x", "\"Summary\" is not a part of a pipeline", "summary"),
      ("steps: []", "\"steps\" is not a part of a pipeline", "stages"),
      ("description: x", "\"description\" is not a part of a pipeline", "summary"),
      ("frobnicate: x", "\"frobnicate\" is not a part of a pipeline", nil),
    ] as [(String, String, String?)])
  func unknownKey(line: String, message: String, suggestion: String?) {
    let report = "2:1 \(message) [\(Allowed.keys)]" + (suggestion.map { " → \($0)" } ?? "")
    #expect(problems("pipeline: p\n" + line) == [report])
  }

  @Test("has text for a summary")
  func summary() {
    #expect(problems("pipeline: p\nsummary: { a: b }") == ["2:10 summary is a mapping [text]"])
  }

  @Test(
    "names inputs and their kinds",
    arguments: [
      ("inputs: [note]", "2:9 inputs is a list [a mapping: name: kind]"),
      ("inputs: note", "2:9 inputs is \"note\" [a mapping: name: kind]"),
      ("inputs: { note: sond }", "2:17 \"sond\" is not a kind of input [\(Allowed.kinds)] → sound"),
      (
        "inputs: { t: transcipt? }",
        "2:14 \"transcipt?\" is not a kind of input [\(Allowed.kinds)] → transcript?"
      ),
      ("inputs: { note: film }", "2:17 \"film\" is not a kind of input [\(Allowed.kinds)] → file"),
      (
        "inputs: { note: sound?? }",
        "2:17 \"sound??\" is not a kind of input [\(Allowed.kinds)] → sound?"
      ),
      ("inputs: { note: }", "2:17 note has no value [\(Allowed.kinds)]"),
      ("inputs: { note: [sound] }", "2:17 note is a list [\(Allowed.kinds)]"),
      ("inputs: { $note: sound }", "2:11 \"$note\" cannot be an input's name [\(Allowed.word)]"),
      (
        "inputs: { a: sound, a: file }",
        "2:21 \"a\" stands twice in this mapping [each key once; the first is in line 2]"
      ),
    ])
  func inputs(line: String, report: String) {
    #expect(problems("pipeline: p\n" + line) == [report])
  }

  @Test("may leave inputs and variables empty", arguments: ["inputs:", "vars:", "inputs: {}"])
  func emptySections(line: String) {
    #expect(problems("pipeline: p\n" + line) == [])
  }

  @Test("has one meaning for each name")
  func sharedName() {
    let reports = problems("pipeline: p\ninputs: { note: sound }\nvars:\n  note: 3")
    #expect(
      reports == [
        "4:3 \"note\" is both an input and a variable "
          + "[each name once, because $note may mean only one of them]"
      ])
  }

  @Test(
    "needs a list of stages",
    arguments: [
      ("", "1:1 the pipeline has no stages [stages: and a list below it]"),
      (
        "stages:",
        "2:8 stages has no value [a list: one line for each stage, beginning with \"- \"]"
      ),
      (
        "stages: { decode: {} }",
        "2:9 stages is a mapping [a list: one line for each stage, beginning with \"- \"]"
      ),
      (
        "stages: decode",
        "2:9 stages is \"decode\" [a list: one line for each stage, beginning with \"- \"]"
      ),
      ("stages: []", "2:9 stages is an empty list [at least one stage]"),
    ])
  func stages(line: String, report: String) {
    let parsed = ParsedPipeline("pipeline: p\n" + line)
    #expect(parsed.definition == nil)
    #expect(parsed.problems.map(\.report) == [report])
  }
}

/// What the messages offer.
private enum Allowed {
  static let keys = "pipeline, summary, inputs, vars, stages"
  static let name = "letters a–z, digits, -, _ and ., beginning with a letter or digit"
  static let word = "letters a–z, digits, - and _, beginning with a letter or digit"
  static let kinds =
    "sound, file, transcript, measurement, receipt; with ? behind it where it may be left out, "
    + "with + where it is one file or more"
}
