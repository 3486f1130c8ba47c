import PipelineModel
import Platform

extension Command {
  /// `spool pipeline graph`: a pipeline as a picture in text.
  static let graph = Command(
    name: "pipeline graph", group: "Pipelines",
    summary: "Draw a pipeline as a Mermaid or Graphviz (DOT) graph.",
    discussion: """
      With --json, it is one object: the inputs, the steps, and what goes from one to another.
      """,
    positionals: [Options.pipeline], options: [Options.format, Options.plugins, Options.json],
    examples: [
      Example(
        "A picture", "spool pipeline graph Pipelines/podcast.yaml --format dot | dot -Tsvg > p.svg")
    ],
    perform: CommandContext.drawGraph)
}

extension Options {
  /// The language of the picture.
  fileprivate enum Form: String, CaseIterable, ArgumentValue {
    case mermaid, dot
  }

  fileprivate static let format = Option<Form>.value(
    "format", "FORMAT", default: .mermaid, help: "The language of the picture.")
}

extension CommandContext {
  fileprivate func drawGraph() throws(SpoolError) -> ExitCode {
    let pipeline = try pipeline(at: arguments[Options.pipeline])
    let inputs = Dictionary(
      pipeline.definition.inputs.flatMap(\.leastNames).map { ($0, "") }, uniquingKeysWith: { $1 })
    let graph = PipelineGraph(
      try plan(pipeline, inputs: inputs, overrides: [], checksEquipment: false),
      of: pipeline.definition)
    if isJSON {
      console.print(json: graph.line)
      return .done
    }
    console.draw(arguments[Options.format] == .dot ? graph.dot : graph.mermaid)
    return .done
  }
}

/// A plan as a diagram in text: for Mermaid (GitHub, editors) or Graphviz.
struct PipelineGraph: Sendable {
  private let title: String
  private let inputs: [String]
  private let steps: [(name: String, kind: String, label: String)]
  private let edges: [(from: String, to: String, label: String)]

  /// Draws a plan of `definition`. A list of files is one node: `tracks+`.
  init(_ plan: Plan, of definition: PipelineDefinition) {
    title = plan.name
    let names = Dictionary(
      definition.inputs.flatMap { input in
        input.names(in: Set(plan.inputs.keys)).map { ($0, input.isList ? input.name + "+" : $0) }
      }, uniquingKeysWith: { first, _ in first })
    inputs = Set(names.values).sorted()
    steps = plan.steps.map { step in
      (
        step.id.name, step.descriptor.kind,
        step.id.name == step.descriptor.kind
          ? step.id.name : "\(step.id.name) (\(step.descriptor.kind))"
      )
    }
    edges = plan.steps.flatMap { step in
      step.descriptor.inputs.flatMap { port in
        step.sources(of: port).map { source in
          switch source {
          case .input(let name):
            ("$" + (names[name] ?? name), step.id.name, port.kind.rawValue)
          case .step(let id, _): (id.name, step.id.name, port.kind.rawValue)
          }
        }
      }
    }
  }

  /// The graph as `--json` shows it. An edge begins at a step, or at an input: `$note`.
  var line: JSONLine {
    JSONLine([
      "pipeline": title, "inputs": inputs,
      "steps": steps.map { JSONLine(["step": $0.name, "kind": $0.kind]) },
      "edges": edges.map { JSONLine(["from": $0.from, "to": $0.to, "carries": $0.label]) },
    ])
  }

  var mermaid: String {
    var lines = ["flowchart TD"]
    lines += inputs.map { "  \(identifier("$" + $0))([\"\($0)\"])" }
    lines += steps.map { "  \(identifier($0.name))[\"\($0.label)\"]" }
    lines += edges.map { "  \(identifier($0.from)) -->|\($0.label)| \(identifier($0.to))" }
    return lines.joined(separator: "\n") + "\n"
  }

  var dot: String {
    var lines = ["digraph \(JSONString.quoted(title)) {", "  node [shape=box];"]
    lines += inputs.map {
      "  \(JSONString.quoted("$" + $0)) [label=\(JSONString.quoted($0)), shape=oval];"
    }
    lines += steps.map { "  \(JSONString.quoted($0.name)) [label=\(JSONString.quoted($0.label))];" }
    lines += edges.map {
      "  \(JSONString.quoted($0.from)) -> \(JSONString.quoted($0.to)) [label=\(JSONString.quoted($0.label))];"
    }
    return lines.joined(separator: "\n") + "\n}\n"
  }

  /// A valid identifier for Mermaid.
  private func identifier(_ name: String) -> String {
    let safe = name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
    return (name.hasPrefix("$") ? "input" : "step_") + safe
  }
}
