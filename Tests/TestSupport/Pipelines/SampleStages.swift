package import PipelineModel
import Platform

/// Stage kinds that do nothing, one for each way of taking part in a run: what planning is tested
/// with.
package enum SampleStages {
  /// `open`, `change`, `settle` (must hear everything first), `write`, `count`, `join` (a whole stage
  /// with an optional second input), `blend` (a source that reads a list) and `caption` (reads words
  /// alone).
  package static let catalog = StageCatalog([
    StageRegistration(Open.self), StageRegistration(Change.self), StageRegistration(Settle.self),
    StageRegistration(Write.self), StageRegistration(Count.self), StageRegistration(Join.self),
    StageRegistration(Blend.self), StageRegistration(Caption.self),
  ])

  /// The family of the streaming kinds.
  package static let family = StageFamily("sample")

  private static let sound = [Port(.sound, .sound, "the sound")]

  struct None: Codable, Sendable {}

  struct Open: DeclaredStage {
    static let descriptor = StageDescriptor(
      kind: "open", revision: 1, summary: "begins a stream", discussion: "",
      flow: .streaming(family, .source),
      inputs: [Port(PortName("recording"), .sound, "the file", intake: .recording)],
      outputs: sound, parameters: [])
    init(_ parameters: None) {}
  }

  struct Blend: DeclaredStage {
    static let descriptor = StageDescriptor(
      kind: "blend", revision: 1, summary: "makes one stream of several", discussion: "",
      flow: .streaming(family, .source),
      inputs: [Port(PortName("tracks"), .sound, "the streams", intake: .both, isList: true)],
      outputs: sound, parameters: [])
    init(_ parameters: None) {}
  }

  struct Change: DeclaredStage {
    struct Parameters: Codable, Sendable {
      let amount: Double
      let mode: String
      let label: String
    }
    static let descriptor = StageDescriptor(
      kind: "change", revision: 1, summary: "changes a stream", discussion: "",
      flow: .streaming(family, .filter), inputs: sound, outputs: sound,
      parameters: [
        ParameterDescriptor(
          "amount", .number(.decibels, -60...60), .defaulted("0 dB"), "how much"),
        ParameterDescriptor("mode", .choice(["soft", "hard"]), .defaulted("soft"), "how"),
        ParameterDescriptor(
          "label", .text(maximumLength: 20), .defaulted("none"), "for people", isInKey: false),
      ], shorthand: "amount")
    init(_ parameters: Parameters) throws(SpoolError) {
      if parameters.amount == 13 { throw SpoolError("change brings bad luck at 13 dB") }
    }
  }

  struct Settle: DeclaredStage {
    static let descriptor = StageDescriptor(
      kind: "settle", revision: 1, summary: "hears everything first", discussion: "",
      flow: .streaming(family, .analysedFilter), inputs: sound, outputs: sound, parameters: [])
    init(_ parameters: None) {}
  }

  struct Write: DeclaredStage {
    static let descriptor = StageDescriptor(
      kind: "write", revision: 1, summary: "writes a file", discussion: "",
      flow: .streaming(family, .sink), inputs: sound,
      outputs: [Port(PortName("file"), .file, "the file")], parameters: [])
    init(_ parameters: None) {}
  }

  struct Count: DeclaredStage {
    static let descriptor = StageDescriptor(
      kind: "count", revision: 1, summary: "counts", discussion: "",
      flow: .streaming(family, .sink), inputs: sound,
      outputs: [Port(.measurement, .measurement, "the count")], parameters: [])
    init(_ parameters: None) {}
  }

  struct Join: DeclaredStage, WholeStage {
    static let descriptor = StageDescriptor(
      kind: "join", revision: 1, summary: "reads artifacts", discussion: "", flow: .whole,
      inputs: [
        Port(.sound, .sound, "the sound"),
        Port(PortName("transcript"), .transcript, "the words", isOptional: true),
      ],
      outputs: [Port(PortName("file"), .file, "the file")], parameters: [])
    init(_ parameters: None) {}
    func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] { [:] }
  }

  struct Caption: DeclaredStage, WholeStage {
    static let descriptor = StageDescriptor(
      kind: "caption", revision: 1, summary: "writes words", discussion: "", flow: .whole,
      inputs: [Port(PortName("transcript"), .transcript, "the words", intake: .both)],
      outputs: [Port(PortName("file"), .file, "the file")], parameters: [])
    init(_ parameters: None) {}
    func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] { [:] }
  }
}

extension DocumentNode {
  /// A scalar that stands nowhere in particular.
  package static func scalar(_ text: String, line: Int = 1, column: Int = 1) -> DocumentNode {
    DocumentNode(.scalar(text, isQuoted: false), at: SourceLocation(line: line, column: column))
  }

  /// A mapping whose keys stand on lines of their own.
  package static func mapping(_ members: [(String, DocumentNode)]) -> DocumentNode {
    let entries = members.enumerated().map { index, member in
      Entry(
        key: member.0, location: SourceLocation(line: index + 1, column: 1), value: member.1)
    }
    return DocumentNode(.mapping(entries), at: SourceLocation(line: 1, column: 1))
  }

  /// A list.
  package static func list(_ nodes: [DocumentNode]) -> DocumentNode {
    DocumentNode(.sequence(nodes), at: SourceLocation(line: 1, column: 1))
  }
}

extension StepDefinition {
  /// A step as a test writes it; it stands on the given line.
  package static func step(
    _ kind: String, id: String? = nil, from: StepDefinition.Sources? = nil, when: String? = nil,
    keep: Bool = false, timeout: Double? = nil, parameters: DocumentNode = .scalar(""),
    line: Int = 1
  ) -> StepDefinition {
    let location = SourceLocation(line: line, column: 5)
    return StepDefinition(
      id: id.map { Located($0, at: location) }, kind: Located(kind, at: location),
      parameters: parameters, from: from, condition: when.map { Located($0, at: location) },
      keep: keep, attempts: nil, timeout: timeout)
  }
}

extension StepDefinition.Sources {
  /// `from: a` or `from: [a, b]`.
  package static func from(_ names: String...) -> StepDefinition.Sources {
    .ordered(names.map { Located($0, at: SourceLocation(line: 1, column: 1)) })
  }
}

extension PipelineDefinition {
  /// A pipeline as a test writes it: one input `note`, and whatever else is given.
  package static func sample(
    _ steps: [StepDefinition], named name: String = "sample",
    optional: [(String, ArtifactKind)] = [], list: String? = nil,
    variables: [(String, DocumentNode)] = []
  ) -> PipelineDefinition {
    let location = SourceLocation(line: 2, column: 3)
    return PipelineDefinition(
      name: name, summary: nil,
      inputs: [InputDefinition(name: "note", kind: .sound, isOptional: false, location: location)]
        + [list].compactMap { $0 }.map {
          InputDefinition(
            name: $0, kind: .sound, isOptional: false, isList: true, location: location)
        }
        + optional.map {
          InputDefinition(name: $0.0, kind: $0.1, isOptional: true, location: location)
        },
      variables: variables.map {
        VariableDefinition(name: $0.0, value: $0.1, summary: nil, isOverridable: false)
      },
      steps: steps)
  }
}
