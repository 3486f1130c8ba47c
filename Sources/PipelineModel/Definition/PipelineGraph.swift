internal import Platform

/// A plan as a diagram in text: for Mermaid (GitHub, editors) or Graphviz.
package struct PipelineGraph: Sendable {
  private struct Edge {
    let from: String
    let to: String
    let label: String
  }

  private let title: String
  private let inputs: [String]
  private let steps: [(name: String, label: String)]
  private let edges: [Edge]

  /// Draws a plan of `definition`. A list of files is one node: `tracks+`.
  package init(_ plan: Plan, of definition: PipelineDefinition) {
    title = plan.name
    let names = Dictionary(
      definition.inputs.flatMap { input in
        input.names(in: Set(plan.inputs.keys)).map { ($0, input.isList ? input.name + "+" : $0) }
      }, uniquingKeysWith: { first, _ in first })
    inputs = Set(names.values).sorted()
    steps = plan.steps.map { step in
      (
        step.id.name,
        step.id.name == step.descriptor.kind
          ? step.id.name : "\(step.id.name) (\(step.descriptor.kind))"
      )
    }
    edges = plan.steps.flatMap { step in
      step.descriptor.inputs.flatMap { port in
        step.sources(of: port).map { source in
          switch source {
          case .input(let name):
            Edge(from: "$" + (names[name] ?? name), to: step.id.name, label: port.kind.rawValue)
          case .step(let id, _): Edge(from: id.name, to: step.id.name, label: port.kind.rawValue)
          }
        }
      }
    }
  }

  package var mermaid: String {
    var lines = ["flowchart TD"]
    lines += inputs.map { "  \(identifier("$" + $0))([\"\($0)\"])" }
    lines += steps.map { "  \(identifier($0.name))[\"\($0.label)\"]" }
    lines += edges.map { "  \(identifier($0.from)) -->|\($0.label)| \(identifier($0.to))" }
    return lines.joined(separator: "\n") + "\n"
  }

  package var dot: String {
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
