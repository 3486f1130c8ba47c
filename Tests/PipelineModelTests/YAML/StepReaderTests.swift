@testable import PipelineModel
import Testing

@Suite("A stage in a pipeline file")
struct StepReaderTests {
  /// The item stands in line 3, from column 5.
  private func parse(_ item: String, knownKinds: [String] = []) -> ParsedPipeline {
    let indented = item.split(separator: "\n", omittingEmptySubsequences: false)
      .joined(separator: "\n    ")
    return ParsedPipeline("pipeline: p\nstages:\n  - \(indented)\n", knownKinds: knownKinds)
  }

  @Test(
    "is a kind with or without parameters",
    arguments: [
      ("decode", "decode", ""), ("\"decode\"", "decode", ""), ("decode:", "decode", ""),
      ("decode: {}", "decode", "{}"), ("gain: -3 dB", "gain", "-3 dB"),
      ("export: [wav]", "export", "[wav]"), ("{ gate: { hold: 60 ms } }", "gate", "{hold: 60 ms}"),
    ])
  func kind(item: String, kind: String, parameters: String) {
    let parsed = parse(item)
    #expect(parsed.problems == [])
    #expect(parsed.definition?.steps.map(\.kind.value) == [kind])
    #expect(parsed.definition?.steps.map(\.parameters.outline) == [parameters])
  }

  @Test(
    "without a kind is reported",
    arguments: [
      ("", "3:4 this item is empty [\(Allowed.kind)]"),
      ("{}", "3:5 this item has no stage kind [\(Allowed.kind)]"),
      ("id: x", "3:5 this item has no stage kind [\(Allowed.kind)]"),
      ("[gate]", "3:5 a stage cannot be a list [\(Allowed.kind)]"),
      ("my gate", "3:5 \"my gate\" cannot be a stage kind [\(Allowed.word)]"),
      ("my gate: {}", "3:5 \"my gate\" cannot be a stage kind [\(Allowed.word)]"),
    ])
  func noKind(item: String, report: String) {
    #expect(parse(item).problems.map(\.report) == [report])
  }

  @Test("names the known kinds where one is missing")
  func kindsAllowed() {
    #expect(
      parse("{}", knownKinds: ["decode", "gate"]).problems.map(\.report)
        == ["3:5 this item has no stage kind [one of decode, gate]"])
  }

  @Test(
    "has one kind",
    arguments: [
      ("gate: {}\nform: a", [], "4:5 \"form\" is not a key of a stage [\(Allowed.keys)] → from"),
      ("form: a\ngate: {}", [], "3:5 \"form\" is not a key of a stage [\(Allowed.keys)] → from"),
      ("gate: {}\nif: $x", [], "4:5 \"if\" is not a key of a stage [\(Allowed.keys)] → when"),
      ("gate: {}\nname: x", [], "4:5 \"name\" is not a key of a stage [\(Allowed.keys)] → id"),
      (
        "gate: {}\ntimeuot: 3", [],
        "4:5 \"timeuot\" is not a key of a stage [\(Allowed.keys)] → timeout"
      ),
      (
        "gate:\nthreshold: -45 dB", [],
        "4:5 \"threshold\" stands beside \"gate\" [one stage kind in an item, its parameters indented below it, and beside it only \(Allowed.keys)]"
      ),
      (
        "gate: {}\neq: {}", ["eq", "gate"],
        "4:5 \"eq\" is a second stage kind beside \"gate\" [one stage kind in an item; begin another with \"- \"]"
      ),
      (
        "hold: 3\ngate:", ["eq", "gate"],
        "3:5 \"hold\" stands beside \"gate\" [one stage kind in an item, its parameters indented below it, and beside it only \(Allowed.keys)]"
      ),
      (
        "source: {}\ngate:", ["gate", "source"],
        "4:5 \"gate\" is a second stage kind beside \"source\" [one stage kind in an item; begin another with \"- \"]"
      ),
    ])
  func oneKind(item: String, knownKinds: [String], report: String) {
    let parsed = parse(item, knownKinds: knownKinds)
    #expect(parsed.problems.map(\.report) == [report])
    #expect(parsed.definition?.steps.count == 1)
  }

  @Test(
    "reads its inputs wherever they are named",
    arguments: [
      ("gate: {}\nfrom: a", .ordered([Located("a", at: Place(line: 4, column: 11))])),
      ("gate: { from: $a }", .ordered([Located("$a", at: Place(line: 3, column: 19))])),
      (
        "gate: {}\nfrom: [a, b.sound]",
        .ordered([
          Located("a", at: Place(line: 4, column: 12)),
          Located("b.sound", at: Place(line: 4, column: 15)),
        ])
      ),
      (
        "gate: {}\nfrom: { key: eq-2 }",
        .named(["key": Located("eq-2", at: Place(line: 4, column: 18))])
      ),
    ] as [(String, StepDefinition.Sources)])
  func from(item: String, clause: StepDefinition.Sources) {
    let parsed = parse(item)
    #expect(parsed.problems == [])
    #expect(parsed.definition?.steps.first?.from == clause)
    #expect(parsed.definition?.steps.first?.parameters.outline == "{}")
  }

  @Test(
    "with a wrong `from` is reported",
    arguments: [
      (
        "gate: { from: a }\nfrom: b",
        "3:13 \"from\" is given twice, inside and beside gate [one of the two]"
      ),
      ("gate: {}\nfrom:", "4:10 from has no value [\(Allowed.forms)]"),
      ("gate: {}\nfrom: []", "4:11 from names nothing [\(Allowed.forms)]"),
      ("gate: {}\nfrom: {}", "4:11 from names nothing [\(Allowed.forms)]"),
      ("gate: {}\nfrom: [a, [b]]", "4:15 from is a list [\(Allowed.forms)]"),
      ("gate: {}\nfrom: a..b", "4:11 \"a..b\" cannot name an input or a step [\(Allowed.forms)]"),
      ("gate: {}\nfrom: a.", "4:11 \"a.\" cannot name an input or a step [\(Allowed.forms)]"),
      ("gate: {}\nfrom: $", "4:11 \"$\" cannot name an input or a step [\(Allowed.forms)]"),
      ("gate: {}\nfrom: $a.b", "4:11 \"$a.b\" cannot name an input or a step [\(Allowed.forms)]"),
      (
        "gate: {}\nfrom: { key: a b }",
        "4:18 \"a b\" cannot name an input or a step [\(Allowed.forms)]"
      ),
    ])
  func wrongFrom(item: String, report: String) {
    let parsed = parse(item)
    #expect(parsed.problems.map(\.report) == [report])
    #expect(parsed.definition?.steps.count == 1)
  }

  @Test(
    "reads its condition",
    arguments: [("$x", "$x"), ("not $x", "not $x"), ("\"not   $x\"", "not $x")])
  func when(text: String, condition: String) {
    let parsed = parse("gate: {}\nwhen: \(text)")
    #expect(parsed.problems == [])
    #expect(parsed.definition?.steps.first?.condition?.value == condition)
  }

  @Test(
    "reads times in their units",
    arguments: [("10 min", 600), ("30 s", 30), ("1.5 h", 5400), ("90", 90), ("250 ms", 0.25)])
  func timeout(text: String, seconds: Double) {
    let parsed = parse("gate: {}\ntimeout: \(text)")
    #expect(parsed.problems == [])
    #expect(parsed.definition?.steps.first?.timeout == seconds)
  }

  @Test(
    "reads YAML 1.2's booleans", arguments: ["true", "True", "TRUE", "false", "False", "FALSE"])
  func keep(text: String) {
    let parsed = parse("gate: {}\nkeep: \(text)")
    #expect(parsed.problems == [])
    #expect(parsed.definition?.steps.first?.keep == (text.lowercased() == "true"))
  }

  @Test(
    "with a wrong value beside its kind is reported",
    arguments: [
      (
        "when: $a and $b",
        "4:11 the condition \"$a and $b\" cannot be understood [$name, not $name]"
      ),
      ("when: x", "4:11 the condition \"x\" cannot be understood [$name, not $name]"),
      ("when: not", "4:11 the condition \"not\" cannot be understood [$name, not $name]"),
      ("when: [x]", "4:11 when is a list [$name, not $name]"),
      ("keep: yes", "4:11 keep is \"yes\" [true, false] → true"),
      ("keep: Off", "4:11 keep is \"Off\" [true, false] → false"),
      ("keep: ture", "4:11 keep is \"ture\" [true, false] → true"),
      ("keep: \"true\"", "4:11 keep is \"true\" [true, false] → true"),
      ("keep:", "4:10 keep has no value [true, false]"),
      ("retry: 0", "4:12 retry is \"0\" [\(Allowed.count)]"),
      ("retry: 11", "4:12 retry is \"11\" [\(Allowed.count)]"),
      ("retry: 2.5", "4:12 retry is \"2.5\" [\(Allowed.count)]"),
      ("retry: {}", "4:12 retry is a mapping [\(Allowed.count)]"),
      ("timeout: soon", "4:14 timeout is \"soon\" [\(Allowed.time)]"),
      ("timeout: 0 s", "4:14 timeout is \"0 s\" [\(Allowed.time)]"),
      ("timeout: -3", "4:14 timeout is \"-3\" [\(Allowed.time)]"),
      ("timeout: 3 dB", "4:14 timeout is \"3 dB\" [\(Allowed.time)]"),
      ("id: a b", "4:9 \"a b\" cannot be a value of id [\(Allowed.word)]"),
      ("id: a.b", "4:9 \"a.b\" cannot be a value of id [\(Allowed.word)]"),
      ("id: []", "4:9 id is a list [\(Allowed.word)]"),
      (
        "keep: true\nkeep: true",
        "5:5 \"keep\" stands twice in this mapping [each key once; the first is in line 4]"
      ),
    ])
  func wrongValues(line: String, report: String) {
    let parsed = parse("gate: {}\n" + line)
    #expect(parsed.problems.map(\.report) == [report])
    #expect(parsed.definition?.steps.count == 1)
  }

  @Test("reports wrong values in an item without a kind as well")
  func wrongValueWithoutKind() {
    #expect(
      parse("keep: yes").problems.map(\.finding) == [
        "3:5 this item has no stage kind", "3:11 keep is \"yes\"",
      ])
  }

  @Test("has an id of its own")
  func duplicateID() {
    let parsed = ParsedPipeline(
      "pipeline: p\nstages:\n  - a: {}\n    id: x\n  - b: {}\n    id: x\n")
    #expect(
      parsed.problems.map(\.report) == ["6:9 two steps are called \"x\" [another id]"])
  }
}

/// What the messages offer.
private enum Allowed {
  static let keys = "id, from, when, keep, retry, timeout"
  static let kind = "one stage kind, as in \"- decode\" or \"- gain: -3 dB\""
  static let word = "letters a–z, digits, - and _, beginning with a letter or digit"
  static let forms = "$input, step or step.port; several as [a, b] or { port: a }"
  static let time = "a time above zero, such as 90 s, 10 min or 1.5 h"
  static let count = "a whole number from 1 to 10"
}
