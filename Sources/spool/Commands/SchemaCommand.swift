import PipelineModel
import Platform
import Proof

extension Command {
  /// `spool pipeline schema`: the JSON Schemas of pipelines, of what receipts state, and of what
  /// commands print.
  static let schema = Command(
    name: "pipeline schema", group: "Pipelines",
    summary: "Print the JSON Schema of pipelines, destinations, receipts or a command's --json.",
    discussion: """
      In Visual Studio Code with the YAML extension, save it as spool.schema.json and begin a \
      pipeline with:  # yaml-language-server: $schema=spool.schema.json

      That of destinations is for destinations.yaml, in the same way.

      Those of receipts and confirmations are for what the payload of their envelope holds: the statement \
      that is signed.

      json COMMAND prints the schema of each line that the command prints with --json; json alone \
      lists the names, a line each. batch-report is the schema of batch.json, and delivered-recording that of \
      *.recording.json at a destination. See also spool help json.
      """,
    positionals: [Options.subject, Options.output], options: [Options.plugins],
    examples: [
      Example("Save it", "spool pipeline schema > spool.schema.json"),
      Example("What receipts state", "spool pipeline schema receipt"),
      Example("What spool runs list prints", "spool pipeline schema json runs list"),
    ],
    perform: CommandContext.printSchema)
}

extension Options {
  /// What the schema is of.
  fileprivate enum Subject: String, CaseIterable, ArgumentValue {
    case pipeline, destinations, receipt, confirmation, json
  }

  fileprivate static let subject = Positional<Subject?>.optional(
    "SUBJECT", help: "Whose schema it is; left out, pipeline.")
  fileprivate static let output = Positional<[String]>.repeated(
    "COMMAND", minimum: 0, help: "With json: the command, as it is typed or with hyphens.",
    completion: .choices(OutputSchema.all.map(\.name)))
}

extension CommandContext {
  fileprivate func printSchema() throws(SpoolError) -> ExitCode {
    let subject = arguments[Options.subject] ?? .pipeline
    let command = arguments[Options.output]
    guard subject == .json || command.isEmpty else {
      throw .usage(
        "\(subject.rawValue) is the schema of no command",
        advice: "spool pipeline schema json COMMAND")
    }
    switch subject {
    case .pipeline: console.print(PipelineSchema(try checkedCatalog()).value.indentedJSON)
    case .destinations: console.print(Self.destinationsSchema.indentedJSON)
    case .receipt, .confirmation:
      let schema = subject == .receipt ? ReceiptForm.schema : DeliveryConfirmation.schema
      console.print(Value(json: JSONText.of(schema))?.indentedJSON ?? JSONText.of(schema))
    case .json where command.isEmpty:
      console.print(OutputSchema.all.map(\.name).joined(separator: "\n"))
    case .json: console.print(try schema(of: command).value.indentedJSON)
    }
    return .done
  }

  /// - Parameter words: a command's name, or a family's that means a command alone.
  private func schema(of words: [String]) throws(SpoolError) -> OutputSchema {
    let name = words.joined(separator: "-")
    let usual = Spool.program.families.first { $0.name == name }?.usual
    // Of some families, one schema is that of all commands.
    let names = [name] + (usual.map { ["\(name)-\($0)"] } ?? []) + words.dropLast().prefix(1)
    for name in names {
      if let found = OutputSchema.all.first(where: { $0.name == name }) { return found }
    }
    let guess = Problem.nearest(to: name, in: OutputSchema.all.map(\.name))
    throw .usage(
      "there is no schema \"\(name)\"" + (guess.map { "; did you mean \"\($0)\"?" } ?? ""),
      advice: "spool pipeline schema json lists them")
  }
}

extension CommandContext {
  /// The JSON Schema (draft 2020-12) of destinations.yaml. Derived from the same declarations as its
  /// reader.
  private static var destinationsSchema: Value {
    let kinds = DestinationKind.allCases.map { kind -> Value in
      let settings = [kind.place] + kind.settings
      return .group([
        "type": .text("object"),
        "required": .list(
          [.text(kind.rawValue)] + settings.filter(\.isRequired).map { .text($0.key) }),
        "additionalProperties": .flag(false),
        "properties": .group(
          Dictionary(settings.map { ($0.key, schema(of: $0)) }, uniquingKeysWith: { $1 })),
      ])
    }
    return .group([
      "$schema": .text("https://json-schema.org/draft/2020-12/schema"),
      "title": .text("Spool destinations"),
      "type": .text("object"),
      "additionalProperties": .flag(false),
      "properties": .group([
        "destinations": .group([
          "description": .text("second places that recordings go to, by name"),
          "type": .list([.text("object"), .text("null")]),
          "additionalProperties": .group(["anyOf": .list(kinds)]),
        ])
      ]),
    ])
  }

  private static func schema(of setting: DestinationKind.Setting) -> Value {
    let text = Value.group(["type": .text("string"), "minLength": .number(1)])
    let words = Value.group([
      "type": .text("array"), "items": text, "minItems": .number(1),
    ])
    var members: [String: Value] =
      switch setting.form {
      case .text, .path: ["type": .text("string"), "minLength": .number(1)]
      case .rate: ["type": .text("string"), "pattern": .text("^[0-9.]+ *[kKmMgG]?[bB]/s$")]
      case .hours:
        [
          "type": .text("string"),
          "pattern": .text("^ *[0-9]{1,2}:[0-9]{2} *- *[0-9]{1,2}:[0-9]{2} *$"),
        ]
      case .flag: ["type": .text("boolean")]
      case .choice(let choices): ["enum": .list(choices.map { .text($0) })]
      case .command: ["type": .text("array"), "items": text, "minItems": .number(1)]
      case .words: ["anyOf": .list([text, words])]
      case .secret:
        [
          "type": .text("object"), "additionalProperties": .flag(false),
          "minProperties": .number(1), "maxProperties": .number(1),
          "properties": .group(["env": text, "file": text, "credential": text]),
        ]
      }
    members["description"] = .text(setting.meaning)
    return .group(members)
  }
}

/// The JSON Schema (draft 2020-12) of pipelines, for completion and validation in editors. Derived
/// from the same declarations as validation and help.
struct PipelineSchema: Sendable {
  private let descriptors: [StageDescriptor]

  init(_ catalog: StageCatalog) { descriptors = catalog.descriptors }

  var value: Value {
    .group([
      "$schema": .text("https://json-schema.org/draft/2020-12/schema"),
      "title": .text("Spool pipeline"),
      "type": .text("object"),
      "required": .list([.text("pipeline"), .text("stages")]),
      "additionalProperties": .flag(false),
      "properties": .group([
        "pipeline": described("string", "the pipeline's name"),
        "summary": described("string", "one sentence for people"),
        "inputs": .group([
          "description": .text("what the pipeline takes, by name"),
          "type": .text("object"),
          "additionalProperties": .group([
            "enum": .list(
              ArtifactKind.allCases.flatMap { kind in
                ["", "?", "+"].map { .text(kind.rawValue + $0) }
              })
          ]),
        ]),
        "vars": described(
          "object", "named values that $name refers to and \(option: .set) overrides"),
        "stages": .group([
          "description": .text("the steps, in order"),
          "type": .text("array"),
          "minItems": .number(1),
          "items": anyOf(
            [.group(["enum": .list(descriptors.map { .text($0.kind) })])]
              + descriptors.map { step($0) }),
        ]),
      ]),
    ])
  }

  private func step(_ descriptor: StageDescriptor) -> Value {
    .group([
      "type": .text("object"),
      "required": .list([.text(descriptor.kind)]),
      "additionalProperties": .flag(false),
      "properties": .group([
        descriptor.kind: parameters(of: descriptor),
        "id": described("string", "the step's name; without it, the stage kind"),
        "from": .group([
          "description": .text("where the inputs come from; without it, the step above"),
          "anyOf": .list([
            Self.reference, Self.references,
            .group(["type": .text("object"), "additionalProperties": Self.reference]),
          ]),
        ]),
        "when": described("string", "the condition: $name, or not $name"),
        "keep": described("boolean", "keep what the step gives in the store"),
        "retry": .group([
          "description": .text("how often the step is tried in all"), "type": .text("integer"),
          "minimum": .number(1), "maximum": .number(10),
        ]),
        "timeout": .group([
          "description": .text("how long the step may take: 90 s, 10 min"),
          "type": .list([.text("string"), .text("number")]),
        ]),
      ]),
    ])
  }

  /// A reference to an input or a step, and a list of them.
  private static let reference = Value.group(["type": .text("string")])
  private static let references = Value.group([
    "type": .text("array"), "items": reference, "minItems": .number(1),
  ])

  private func parameters(of descriptor: StageDescriptor) -> Value {
    var mapping = members(descriptor.parameters)
    if case .group(var fields) = mapping, case .group(var properties) = fields["properties"] {
      for port in descriptor.inputs where properties[port.name.name] == nil {
        properties[port.name.name] =
          port.isList
          ? .group([
            "description": .text(port.summary), "anyOf": .list([Self.reference, Self.references]),
          ]) : described("string", port.summary)
      }
      properties["from"] = properties["from"] ?? .group([:])
      fields["properties"] = .group(properties)
      mapping = .group(fields)
    }
    var forms = [mapping, .group(["type": .text("null")])]
    if let shorthand = descriptor.parameters.first(where: { $0.name == descriptor.shorthand }) {
      forms.append(schema(shorthand.type))
    }
    return .group(["description": .text(descriptor.summary), "anyOf": .list(forms)])
  }

  private func members(_ parameters: [ParameterDescriptor]) -> Value {
    var properties: [String: Value] = [:]
    for parameter in parameters {
      var form = schema(parameter.type)
      if case .group(var fields) = form {
        fields["description"] = .text(parameter.summary)
        if case .defaulted(let text) = parameter.presence, !text.isEmpty {
          fields["default"] = .text(text)
        }
        form = .group(fields)
      }
      properties[parameter.name] = form
    }
    let required = parameters.filter { $0.presence == .required }.map { Value.text($0.name) }
    return .group([
      "type": .text("object"), "additionalProperties": .flag(false),
      "properties": .group(properties), "required": .list(required),
    ])
  }

  private func schema(_ type: ParameterType) -> Value {
    let variable = Value.group([
      "type": .text("string"), "pattern": .text("^\\$[A-Za-z][A-Za-z0-9_-]*$"),
    ])
    switch type {
    case .number(let unit, let range):
      let units = unit.alternatives.joined(separator: "|")
      let suffix = units.isEmpty ? "" : " ?(\(units))?"
      let clock = unit.dimension == .time ? "|-?[0-9]+(:[0-5]?[0-9]){1,2}(\\.[0-9]+)?" : ""
      return anyOf([
        number("number", range),
        .group([
          "type": .text("string"),
          "pattern": .text("^([-+]?[0-9.]+([eE][-+]?[0-9]+)?\(suffix)\(clock))$"),
        ]),
        variable,
      ])
    case .integer(let range):
      return anyOf([
        number("integer", Double(range.lowerBound)...Double(range.upperBound)), variable,
      ])
    case .range(let element):
      return anyOf([
        .group(["type": .text("number")]),
        .group(["type": .text("string"), "pattern": .text(Self.pattern(ofRangesOf: element))]),
        variable,
      ])
    case .choice(let words):
      let numbers = words.compactMap { Int($0) }.map { Value.number(Double($0)) }
      return anyOf([.group(["enum": .list(words.map { .text($0) } + numbers)]), variable])
    case .flag: return anyOf([.group(["type": .text("boolean")]), variable])
    case .text(let length):
      return .group(["type": .text("string"), "maxLength": .number(Double(length))])
    case .command(let length):
      return .group([
        "type": .text("string"), "minLength": .number(1), "maxLength": .number(Double(length)),
      ])
    case .path: return .group(["type": .text("string"), "minLength": .number(1)])
    case .fileName(let fields):
      let choice = fields.joined(separator: "|")
      return .group([
        "type": .text("string"), "maxLength": .number(Double(FileNameRule.maximumLength)),
        "pattern": .text("^(\\$[A-Za-z][A-Za-z0-9_-]*|(?!\\.\\.?$)([^/{]|\\{(\(choice))\\})*)$"),
      ])
    case .list(let element, let count):
      let form = schema(element)
      return anyOf([
        .group([
          "type": .text("array"), "items": form, "minItems": .number(Double(count.lowerBound)),
          "maxItems": .number(Double(count.upperBound)),
        ]),
        form,
      ])
    case .group(let parameters): return members(parameters)
    case .named(let element, let count):
      return .group([
        "type": .text("object"), "maxProperties": .number(Double(count)),
        "additionalProperties": anyOf([
          schema(element), .group(["type": .list([.text("number"), .text("boolean")])]),
        ]),
      ])
    }
  }

  /// What ranges look like as text: `-16 LUFS ± 0.5`, `1 s .. 4 h`, `< 30 %`.
  private static func pattern(ofRangesOf element: ParameterType) -> String {
    var units = ""
    if case .number(let unit, _) = element, !unit.alternatives.isEmpty {
      units = "( ?(\((unit.alternatives + ["LU", "dB"]).joined(separator: "|"))))?"
    }
    let number = "[-+]?[0-9.:]+([eE][-+]?[0-9]+)?" + units
    let interval = "(\(number))? ?(\\.\\.\\.?|…) ?(\(number))?"
    return "^(([<>]=?|≤|≥) ?\(number)|\(number)|\(interval)|\(number) ?(±|\\+/?-) ?\(number))$"
  }

  private func anyOf(_ forms: [Value]) -> Value { .group(["anyOf": .list(forms)]) }

  private func number(_ type: String, _ range: ClosedRange<Double>) -> Value {
    .group([
      "type": .text(type), "minimum": .number(range.lowerBound),
      "maximum": .number(range.upperBound),
    ])
  }

  private func described(_ type: String, _ description: String) -> Value {
    .group(["type": .text(type), "description": .text(description)])
  }
}
