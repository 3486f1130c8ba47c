import PipelineModel
import Platform

extension Command {
  /// `spool pipeline graph`: a pipeline as a picture in text.
  static let graph = Command(
    name: "pipeline graph", group: "Pipelines",
    summary: "Draw a pipeline as a Mermaid or Graphviz (DOT) graph.",
    discussion: """
      It has every step that runs with all inputs or without optional ones; those that a variable turns       off are left out. With --json, it is one object: the inputs, the steps, and what goes from one to       another.
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
    var plans: [Plan] = []
    for inputs in pipeline.definition.inputSets {
      do throws(SpoolError) { plans.append(try plan(pipeline, given: inputs)) } catch {
        // Not every set of inputs need be a use of it.
        if plans.isEmpty { throw error }
      }
    }
    let graph = PipelineGraph(plans, of: pipeline.definition)
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

  /// Draws what plans of `definition` have together, each of some of its inputs. A list of files is one
  /// node: `tracks+`.
  init(_ plans: [Plan], of definition: PipelineDefinition) {
    title = definition.name
    let given = Set(plans.flatMap(\.inputs.keys))
    let names = Dictionary(
      definition.inputs.flatMap { input in
        input.names(in: given).map { ($0, input.isList ? input.name + "+" : $0) }
      }, uniquingKeysWith: { first, _ in first })
    inputs = Set(names.values).sorted()
    var steps: [(name: String, kind: String, label: String)] = []
    var edges: [(from: String, to: String, label: String)] = []
    for plan in plans {
      var next = 0
      for step in plan.steps {
        let (name, kind) = (step.id.name, step.descriptor.kind)
        let index = steps.firstIndex { $0.name == name }
        if index == nil {
          steps.insert((name, kind, name == kind ? name : "\(name) (\(kind))"), at: next)
        }
        next = (index ?? next) + 1
        for port in step.descriptor.inputs {
          for source in step.sources(of: port) {
            let from =
              switch source {
              case .input(let input): "$" + (names[input] ?? input)
              case .step(let id, _): id.name
              }
            let edge = (from: from, to: name, label: port.kind.rawValue)
            if !edges.contains(where: { $0 == edge }) { edges.append(edge) }
          }
        }
      }
    }
    (self.steps, self.edges) = (steps, edges)
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
