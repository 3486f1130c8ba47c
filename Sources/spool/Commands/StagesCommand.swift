import Arguments
import PipelineModel

/// `spool stages`: what a pipeline can be made of.
struct StagesCommand: Command {
  private static let kind = Positional<String?>.optional(
    "KIND", help: "Show one stage kind in full.")

  static let declaration = CommandDeclaration(
    name: "stages", group: "Pipelines",
    summary: "List the stage kinds, or show one with its ports and parameters.",
    positionals: [kind], options: [Options.plugins, Options.json],
    examples: [Example("What the gate can do", "spool stages gate")])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let catalog = Workbench(console: console, plugins: arguments[Options.plugins]).catalog(
      beside: nil)
    guard let kind = arguments[Self.kind] else {
      console.print(arguments[Options.json] ? json(catalog.descriptors) : list(catalog))
      return .done
    }
    guard let descriptor = catalog[kind]?.descriptor else {
      console.report("\(console.red("error:")) there is no stage kind \"\(kind)\"")
      console.report("allowed: \(catalog.kinds.joined(separator: ", "))")
      if let near = Problem.nearest(to: kind, in: catalog.kinds) {
        console.report("did you mean \"\(near)\"?")
      }
      return .usage
    }
    console.print(
      arguments[Options.json]
        ? json([descriptor]) : StageReference(descriptor).text(width: console.width))
    return .done
  }

  private func list(_ catalog: StageCatalog) -> String {
    let width = (catalog.kinds.map(\.count).max() ?? 0) + 2
    return catalog.descriptors.map { "\(Format.pad($0.kind, width))\($0.summary)" }
      .joined(separator: "\n") + "\n\nspool stages KIND shows one in full."
  }

  private func json(_ descriptors: [StageDescriptor]) -> String {
    Value.list(descriptors.map { StageReference($0).value }).canonicalJSON
  }
}
