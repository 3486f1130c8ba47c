import Arguments
import PipelineModel

/// `spool graph`: a pipeline as a picture in text.
struct GraphCommand: Command {
  private static let format = Option<GraphFormat>.value(
    "format", "FORMAT", default: .mermaid, help: "The language of the picture.")

  static let declaration = CommandDeclaration(
    name: "graph", group: "Pipelines",
    summary: "Draw a pipeline as a Mermaid or Graphviz (DOT) graph.",
    positionals: [Options.pipeline], options: [format, Options.plugins],
    examples: [
      Example("A picture", "spool graph Pipelines/podcast.yaml --format dot | dot -Tsvg > p.svg")
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console, plugins: arguments[Options.plugins])
    do throws(Workbench.Refusal) {
      let pipeline = try bench.pipeline(at: arguments[Options.pipeline])
      let inputs = Dictionary(
        pipeline.definition.inputs.flatMap(\.leastNames).map { ($0, "") }, uniquingKeysWith: { $1 })
      let graph = PipelineGraph(
        try bench.plan(pipeline, inputs: inputs, overrides: [], checksEquipment: false),
        of: pipeline.definition)
      console.draw(arguments[Self.format] == .dot ? graph.dot : graph.mermaid)
      return .done
    } catch {
      console.report(error.text)
      return error.code
    }
  }
}

/// What `--format` says.
enum GraphFormat: String, CaseIterable, ArgumentValue {
  case mermaid
  case dot
}
