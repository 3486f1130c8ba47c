import Arguments
import PipelineModel

/// `spool schema`: the JSON Schema of pipelines.
struct SchemaCommand: Command {
  static let declaration = CommandDeclaration(
    name: "schema", group: "Pipelines",
    summary: "Print the JSON Schema of pipelines, for editors.",
    discussion: """
      In Visual Studio Code with the YAML extension, save it as spool.schema.json and begin a \
      pipeline with:  # yaml-language-server: $schema=spool.schema.json
      """,
    options: [Options.plugins],
    examples: [Example("Save it", "spool schema > spool.schema.json")])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    console.print(
      PipelineSchema(
        Workbench(console: console, plugins: arguments[Options.plugins]).catalog(beside: nil)
      ).value.indentedJSON)
    return .done
  }
}
