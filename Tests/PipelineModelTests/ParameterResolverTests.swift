import PipelineModel
import TestSupport
import Testing

@Suite struct ParameterResolverTests {
  private let parameters = [
    ParameterDescriptor("threshold", .number(.decibels, -80...0), .required, "when"),
    ParameterDescriptor(
      "attack", .number(.milliseconds, 0.1...500), .defaulted("8 ms"), "how fast"),
    ParameterDescriptor("mode", .choice(["peak", "rms"]), .defaulted("peak"), "how"),
    ParameterDescriptor("on", .flag, .optional, "whether"),
    ParameterDescriptor("bits", .integer(8...24), .optional, "how many"),
    ParameterDescriptor(
      "bands",
      .list(
        of: .group([ParameterDescriptor("q", .number(.number, 0.1...10), .required, "")]),
        count: 1...2),
      .optional, "which"),
  ]

  private func resolve(_ node: DocumentNode) -> (Value, [Problem]) {
    var resolver = ParameterResolver(owner: "gate")
    let value = resolver.resolve(node, as: parameters, shorthand: "threshold")
    return (value, resolver.problems)
  }

  @Test func `defaults fill what is left out, in base units`() {
    let (value, problems) = resolve(.mapping([("threshold", .scalar("-20 dB"))]))
    #expect(problems.isEmpty)
    #expect(
      value.canonicalJSON
        == #"{"attack":0.008,"bands":null,"bits":null,"mode":"peak","on":null,"threshold":-20}"#)
  }

  @Test(arguments: [
    ("ca.pem", "/etc/spool", "/etc/spool/ca.pem"), ("../ca.pem", "/", "/../ca.pem"),
    ("/ca.pem", "/etc/spool", "/ca.pem"), ("ca.pem", nil, "ca.pem"),
  ])
  func `a path starts from the pipeline's folder`(text: String, folder: String?, path: String) {
    let parameters = [ParameterDescriptor("file", .path, .required, "which")]
    var resolver = ParameterResolver(owner: "proof", folder: folder)
    let value = resolver.resolve(.mapping([("file", .scalar(text))]), as: parameters)
    #expect(resolver.problems.isEmpty && value == .group(["file": .text(path)]))
    _ = resolver.resolve(.mapping([("file", .scalar("a\0b"))]), as: parameters)
    #expect(resolver.problems.map(\.message) == ["file of proof is no path"])
  }

  @Test func `names that nobody knows beforehand are taken as they are, up to a number`() {
    let type = ParameterType.named(.text(maximumLength: 5), maximumCount: 2)
    let parameters = [ParameterDescriptor("controls", type, .optional, "which")]
    var resolver = ParameterResolver(owner: "lv2")
    let value = resolver.resolve(
      .mapping([("controls", .mapping([("Room Size", .scalar("0.5")), ("mix", .scalar("3 dB"))]))]),
      as: parameters)
    #expect(resolver.problems.isEmpty)
    #expect(value.canonicalJSON == #"{"controls":{"Room Size":"0.5","mix":"3 dB"}}"#)
    #expect(
      type.text(of: .group(["Room Size": .text("0.5"), "mix": .text("3")]))
        == #"{ "Room Size": 0.5, mix: 3 }"#)
    let wrong = DocumentNode.mapping([
      ("a", .scalar("123456")), ("b", .list([])), ("c", .scalar("1")),
    ])
    _ = resolver.resolve(.mapping([("controls", wrong)]), as: parameters)
    #expect(
      resolver.problems.map(\.message) == [
        "controls of lv2 has 3 members", "a in controls of lv2 is too long (6 characters)",
        "b in controls of lv2 cannot be a list",
      ])
  }

  @Test func `a bare value stands for the shorthand`() {
    let (value, problems) = resolve(.scalar("-20 dB"))
    #expect(problems.isEmpty)
    #expect(value.canonicalJSON.contains(#""threshold":-20"#))
  }

  @Test func `every problem is reported, each at its place`() {
    let (_, problems) = resolve(
      .mapping([
        ("treshold", .scalar("-20 dB", line: 1, column: 12)),
        ("attack", .scalar("8 kHz", line: 2, column: 12)),
        ("mode", .scalar("peek", line: 3, column: 12)),
        ("on", .scalar("yes", line: 4, column: 12)),
        ("bits", .scalar("99", line: 5, column: 12)),
        ("bands", .list([])),
      ]))
    #expect(
      problems.map(\.message) == [
        "\"treshold\" is not a parameter of gate",
        "gate needs threshold",
        "attack of gate takes ms, s, min, h, not \"kHz\"",
        "mode of gate cannot be \"peek\"",
        "on of gate cannot be \"yes\"",
        "bits of gate is out of range at 99",
        "bands of gate has 0 elements",
      ])
    #expect(problems[0].suggestion == "threshold")
    #expect(problems[0].location == SourceLocation(line: 1, column: 1))
    #expect(problems[2].location == SourceLocation(line: 2, column: 12))
    #expect(problems[3].suggestion == "peak")
    #expect(problems[4].allowed == "true, false")
    #expect(problems[5].allowed == "8 … 24")
  }

  @Test func `a value out of range names the range in the parameter's own unit`() {
    let (_, problems) = resolve(
      .mapping([("threshold", .scalar("3 dB")), ("attack", .scalar("2 s"))]))
    #expect(problems.map(\.allowed) == ["-80 dB … 0 dB", "0.1 ms … 500 ms"])
    #expect(problems[1].message == "attack of gate is out of range at 2000 ms")
  }

  @Test func `members of groups in lists are checked as well`() {
    let (_, problems) = resolve(
      .mapping([
        ("threshold", .scalar("-3")),
        ("bands", .list([.mapping([("q", .scalar("1"))]), .mapping([("gain", .scalar("1"))])])),
      ]))
    #expect(
      problems.map(\.message) == [
        "\"gain\" is not a parameter of bands of gate", "bands of gate needs q",
      ])
  }
}
