import Arguments
import LV2Host
import PipelineModel
import Stages

/// `spool stages`: what a pipeline can be made of.
struct StagesCommand: Command {
  private static let kind = Positional<String?>.optional(
    "KIND",
    help: "Show one stage kind in full; lv2:URI or ladspa:LIBRARY:LABEL an installed plugin, "
      + "lv2: and ladspa: all of them.")

  static let declaration = CommandDeclaration(
    name: "stages", group: "Pipelines",
    summary: "List the stage kinds, or show one with its ports and parameters.",
    positionals: [kind], options: [Options.plugins, Options.json],
    examples: [
      Example("What the gate can do", "spool stages gate"),
      Example("Which LV2 plugins are installed", "spool stages lv2:"),
    ])

  private let arguments: ParsedArguments

  init(_ arguments: ParsedArguments) { self.arguments = arguments }

  func run(console: Console) -> ExitCode {
    let bench = Workbench(console: console, plugins: arguments[Options.plugins])
    return bench.withStages { show($0, console) }
  }

  private func show(_ catalog: StageCatalog, _ console: Console) -> ExitCode {
    guard let kind = arguments[Self.kind] else {
      console.print(arguments[Options.json] ? json(catalog.descriptors) : list(catalog))
      return .done
    }
    if let format = EffectFormat.allCases.first(where: { kind.hasPrefix("\($0.rawValue):") }) {
      return show(String(kind.dropFirst(format.rawValue.count + 1)), format, console)
    }
    guard let descriptor = catalog[kind]?.descriptor else {
      console.report("\(console.red("error:")) there is no stage kind \"\(Format.visible(kind))\"")
      console.report("allowed: \(catalog.kinds.joined(separator: ", "))")
      if let near = Problem.nearest(to: kind, in: catalog.kinds) {
        console.report("did you mean \"\(near)\"?")
      }
      return .usage
    }
    console.print(
      arguments[Options.json]
        ? json([descriptor]) : StageReference(descriptor).text(width: console.width))
    guard let format = EffectFormat(rawValue: kind), !arguments[Options.json] else { return .done }
    console.print("\nInstalled")
    return show("", format, console)
  }

  /// Shows an installed plugin of a foreign standard, or all of them where `identity` is empty.
  private func show(_ identity: String, _ format: EffectFormat, _ console: Console) -> ExitCode {
    let shelf = EffectShelf()
    let isJSON = arguments[Options.json]
    do throws(StageError) {
      if identity.isEmpty {
        let list = EffectList(format, try shelf.catalog(format))
        console.print(
          isJSON ? list.value.canonicalJSON : list.text(folders: shelf.folders(format)))
        for warning in list.warnings { console.report("warning: \(Format.visible(warning))") }
      } else {
        let page = EffectReference(try shelf.description(format, identity))
        console.print(isJSON ? page.value.canonicalJSON : page.text)
      }
      return .done
    } catch {
      console.report(ErrorText(error).render(console))
      return .usage
    }
  }

  private func list(_ catalog: StageCatalog) -> String {
    let width = (catalog.kinds.map(\.count).max() ?? 0) + 2
    let lines = catalog.descriptors.map { "\(Format.pad($0.kind, width))\($0.summary)" }
    return Format.visible(lines: lines + ["", "spool stages KIND shows one in full."])
  }

  private func json(_ descriptors: [StageDescriptor]) -> String {
    Value.list(descriptors.map { StageReference($0).value }).canonicalJSON
  }
}
