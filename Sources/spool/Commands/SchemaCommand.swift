import Arguments
import PipelineModel
import Proof

/// `spool schema`: the JSON Schema of pipelines, and of what receipts state.
struct SchemaCommand: Command {
  /// What the schema is of.
  enum Subject: String, CaseIterable, ArgumentValue {
    case pipeline, receipt
  }

  private static let subject = Positional<Subject?>.optional(
    "SUBJECT", help: "Whose schema it is; left out, pipeline.")

  static let declaration = CommandDeclaration(
    name: "schema", group: "Pipelines",
    summary: "Print the JSON Schema of pipelines or of receipts.",
    discussion: """
      In Visual Studio Code with the YAML extension, save it as spool.schema.json and begin a \
      pipeline with:  # yaml-language-server: $schema=spool.schema.json

      That of receipts is for what the payload of their envelope holds: the statement that is signed.
      """,
    positionals: [subject], options: [Options.plugins],
    examples: [
      Example("Save it", "spool schema > spool.schema.json"),
      Example("What receipts state", "spool schema receipt"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    switch arguments[Self.subject] ?? .pipeline {
    case .pipeline:
      return Workbench(console: console, plugins: arguments[Options.plugins]).withStages {
        catalog in
        console.print(PipelineSchema(catalog).value.indentedJSON)
        return .done
      }
    case .receipt:
      let schema = ReceiptForm.schema
      console.print(Value(json: JSONText.of(schema))?.indentedJSON ?? JSONText.of(schema))
      return .done
    }
  }
}
