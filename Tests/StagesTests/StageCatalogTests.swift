import PipelineModel
import Platform
@testable import Stages
import Testing

@Suite struct StageCatalogTests {
  /// Parameters that make each kind complete where its defaults do not.
  private static let required: [String: [(String, String)]] = [
    "deliver": [("to", "nas")],
    "gain": [("gain", "-3 dB")], "normalize": [("loudness", "-16 LUFS")],
    "export": [("formats", "wav")], "click": [("bars", "8")],
    "channels": [("pick", "1")], "resample": [("rate", "48 kHz")],
    "assert": [("loudness", "-16 LUFS ± 0.5")],
    "speed": [("tempo", "1.25")], "split": [("by", "silence")],
  ]

  private func resolve(
    _ descriptor: StageDescriptor, _ given: [(String, DocumentNode)]
  ) -> (Value, [Problem]) {
    let place = SourceLocation(line: 1, column: 1)
    var resolver = ParameterResolver(owner: descriptor.kind)
    let entries = given.map { DocumentNode.Entry(key: $0.0, location: place, value: $0.1) }
    let value = resolver.resolve(
      DocumentNode(.mapping(entries), at: place), as: descriptor.parameters)
    return (value, resolver.problems)
  }

  private func scalar(_ text: String) -> DocumentNode {
    DocumentNode(.scalar(text, isQuoted: false), at: SourceLocation(line: 1, column: 1))
  }

  private func completing(_ kind: String) -> [(String, DocumentNode)] {
    if kind == "eq" {
      let place = SourceLocation(line: 1, column: 1)
      let band = DocumentNode(
        .mapping([
          .init(key: "type", location: place, value: scalar("peak")),
          .init(key: "frequency", location: place, value: scalar("1 kHz")),
        ]), at: place)
      return [("bands", DocumentNode(.sequence([band]), at: place))]
    }
    if kind == "cut" {
      let place = SourceLocation(line: 1, column: 1)
      let range = DocumentNode(
        .mapping([.init(key: "from", location: place, value: scalar("1 s"))]), at: place)
      return [("remove", DocumentNode(.sequence([range]), at: place))]
    }
    return (Self.required[kind] ?? []).map { ($0.0, scalar($0.1)) }
  }

  @Test(arguments: StageCatalog.builtIn.kinds)
  func `a kind's declaration and its Swift type agree`(kind: String) throws {
    let registration = try #require(StageCatalog.builtIn[kind])
    let (value, problems) = resolve(registration.descriptor, completing(kind))
    #expect(problems.isEmpty, "the defaults are within their own ranges")
    _ = try registration.make(value)
  }

  @Test(arguments: StageCatalog.builtIn.descriptors)
  func `a kind is documented`(descriptor: StageDescriptor) {
    #expect(!descriptor.summary.isEmpty && !descriptor.summary.hasSuffix("."))
    #expect(descriptor.discussion.hasSuffix("."))
    // Only sound that is made out of nothing needs nothing, and only a receipt or a delivery, which is
    // of the run as a whole, neither needs nor gives anything.
    let isReceipt = ["proof", "deliver"].contains(descriptor.kind)
    if case .streaming(_, .source) = descriptor.flow {
    } else {
      #expect(descriptor.inputs.isEmpty == isReceipt)
    }
    #expect(descriptor.outputs.isEmpty == isReceipt)
    #expect(descriptor.revision >= 1)
    #expect(descriptor.parameters.allSatisfy { !$0.summary.isEmpty })
    if let shorthand = descriptor.shorthand {
      #expect(descriptor.parameters.contains { $0.name == shorthand })
    }
  }

  @Test(arguments: StageCatalog.builtIn.kinds)
  func `the parameter that gives a kind's files another name is one that it has`(
    kind: String
  ) throws {
    let registration = try #require(StageCatalog.builtIn[kind])
    let descriptor = registration.descriptor
    let writing = ["measure": "write", "sync": "picture"][kind]
    let usual = completing(kind) + (writing.map { [($0, scalar("true"))] } ?? [])
    func names(_ more: [(String, DocumentNode)]) throws -> Set<String> {
      let (value, problems) = resolve(descriptor, usual + more)
      #expect(problems.isEmpty, "\(problems)")
      let stage = try registration.make(value) as? any PublishingStage
      return Set(stage?.fileNames(of: StepID("levels"), recordings: ["take.wav"]) ?? [])
    }
    let before = try names([])
    let naming = descriptor.naming("copy", insteadOf: before.first ?? "take.wav")
    #expect((naming != nil) == !before.isEmpty)
    guard let naming, case .mapping(let entries)? = YAMLDocument(naming).root?.content else {
      return
    }
    let after = try names(entries.map { ($0.key, $0.value) })
    #expect(after.count == before.count && after.isDisjoint(with: before), "\(after)")
    #expect(after.allSatisfy { $0.contains("take.copy") }, "\(after)")
  }

  @Test func `a command's files are named with their endings, and a plugin's are not advised on`() {
    let command = StageRegistration.command(launcher: "/bin/true").descriptor
    #expect(
      command.naming("copy", insteadOf: "/out/take.txt") == "file-name: \"{stem}.copy.txt\"")
    let plugin = StageDescriptor(
      kind: "speak", revision: 1, summary: "", discussion: "", flow: .whole, inputs: [],
      outputs: [], parameters: [])
    #expect(plugin.naming("copy", insteadOf: "/out/take.txt") == nil)
  }

  @Test(arguments: [
    ("normalize", [("loudness", "-16 LUFS"), ("peak", "-1 dB")]), ("normalize", []),
    ("export", [("formats", "wav")]), ("click", []),
    ("click", [("bars", "2"), ("duration", "9 s")]),
    ("export", [("formats", "wav")]), ("channels", []), ("resample", [("rate", "44100.5 Hz")]),
    ("trim", [("start", "2 s"), ("end", "1 s")]), ("trim", [("end", "2 s"), ("duration", "1 s")]),
    ("silence", [("maximum", "50 ms"), ("padding", "100 ms")]),
    ("split", []), ("split", [("at", "1 s"), ("by", "silence")]), ("split", [("at", "0 s")]),
    ("split", [("by", "silence"), ("name", "{stem}")]), ("assert", []),
    ("assert", []), ("concat", [("sample-rate", "44100.5 Hz")]),
  ])
  func `what single ranges cannot say is checked when the stage is made`(
    kind: String, parameters: [(String, String)]
  ) throws {
    let registration = try #require(StageCatalog.builtIn[kind])
    var given = parameters.map { ($0.0, scalar($0.1)) }
    if kind == "export" {
      given = [
        (
          "formats",
          DocumentNode(
            .sequence([scalar("wav"), scalar("wav")]), at: SourceLocation(line: 1, column: 1))
        )
      ]
    }
    let (value, problems) = resolve(registration.descriptor, given)
    #expect(problems.isEmpty)
    #expect(throws: SpoolError.self) { try registration.make(value) }
  }
}
