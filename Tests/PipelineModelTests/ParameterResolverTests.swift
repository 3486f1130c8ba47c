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

  @Test(arguments: [
    "Talk #12", "# 12", "*star", "null", "~", "", "!x y", "|", "{stem}-b", "\"x", "*", "%x", "@x",
    "'",
    "[a]", "a: b", "'quoted'",
  ])
  func `a text of the command line is taken as it was typed`(text: String) {
    let parameters = [
      ParameterDescriptor("title", .text(maximumLength: 99), .defaulted("usual"), "what"),
      ParameterDescriptor("names", .list(of: .text(maximumLength: 9), count: 1...9), .optional, ""),
    ]
    var resolver = ParameterResolver(owner: "export")
    let value = resolver.resolve(
      .mapping([("title", .typed(text))]), as: parameters, shorthand: "title")
    #expect(value == .group(["title": .text(text), "names": .null]))
    #expect(resolver.resolve(.typed(text), as: parameters, shorthand: "title") == value)
    #expect(resolver.problems.isEmpty, "\(resolver.problems)")
    #expect(DocumentNode.typed(text).overrideText == text)
  }

  @Test(arguments: [
    ("[a, 'b c']", ["a", "b c"]), ("a", ["a"]), (#""{stem}-b""#, ["{stem}-b"]),
    ("{stem}", ["{stem}"]),
    ("{stem}-b", ["{stem}-b"]), ("# 1", ["# 1"]), ("null", ["null"]), ("'a # b'", ["a # b"]),
  ])
  func `a list of the command line is YAML, or its only element`(text: String, list: [String]) {
    let type = ParameterType.list(of: .text(maximumLength: 20), count: 1...9)
    var resolver = ParameterResolver(owner: "export")
    let value = resolver.resolve(
      .mapping([("names", .typed(text))]),
      as: [ParameterDescriptor("names", type, .required, "which")])
    #expect(value == .group(["names": .list(list.map { .text($0) })]))
    #expect(resolver.problems.isEmpty, "\(resolver.problems)")
  }

  @Test func `a mapping of the command line is YAML, and a number or a flag is not`() {
    let (value, problems) = resolve(
      .mapping([
        ("threshold", .typed("-3 dB")), ("on", .typed("true")), ("bands", .typed("{ q: 2 }")),
      ]))
    #expect(problems.isEmpty, "\(problems)")
    #expect(
      value.canonicalJSON
        == #"{"attack":0.008,"bands":[{"q":2}],"bits":null,"mode":"peak","on":true,"threshold":-3}"#
    )
    #expect(resolve(.typed("{ threshold: -3 dB, on: true }")).0["on"] == .flag(true))
    let (_, wrong) = resolve(
      .mapping([("threshold", .typed("-3 dB # loud")), ("bands", .typed("[{ q: 2 }"))]))
    #expect(wrong.count == 2, "\(wrong)")
    #expect(wrong.contains { $0.message.hasPrefix("bands of gate cannot be read as YAML") })
  }

  @Test(arguments: [
    ("./rec.py {input} 'a b'", "/p/rec.py {input} 'a b'"), ("'my bin/rec' x", "'/p/my bin/rec' x"),
    ("whisper {input}", "whisper {input}"), ("/bin/rec x", "/bin/rec x"),
    ("{model}/x", "{model}/x"),
  ])
  func `the program of a command starts from the pipeline's folder`(text: String, line: String) {
    var resolver = ParameterResolver(owner: "x", folder: "/p")
    let value = resolver.resolve(
      .mapping([("command", .scalar(text))]),
      as: [ParameterDescriptor("command", .command(maximumLength: 99), .required, "what")])
    #expect(value == .group(["command": .text(line)]))
    #expect(resolver.problems.isEmpty)
  }

  @Test(arguments: [
    ("", "command of x names no program"), ("'' a", "command of x names no program"),
    ("rec 'a", "command of x does not close a quotation"),
  ])
  func `a command without a program, or with an open quotation, is refused`(
    text: String, message: String
  ) {
    var resolver = ParameterResolver(owner: "x", folder: "/p")
    let node = DocumentNode(.scalar(text, isQuoted: true), at: SourceLocation(line: 1, column: 1))
    _ = resolver.resolve(
      .mapping([("command", node)]),
      as: [ParameterDescriptor("command", .command(maximumLength: 99), .required, "what")])
    #expect(resolver.problems.map(\.message) == [message])
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

extension DocumentNode {
  fileprivate static func typed(_ text: String) -> DocumentNode {
    DocumentNode(.typed(text), at: SourceLocation(line: 1, column: 1))
  }
}

extension Value {
  fileprivate subscript(name: String) -> Value? {
    if case .group(let members) = self { members[name] } else { nil }
  }
}
