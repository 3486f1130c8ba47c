public import Arguments
import PipelineModel
public import PluginHost

/// `spool plugin new`: a plugin to start from.
struct PluginStart {
  let desk: PluginDesk
  let name: String
  let language: ScaffoldLanguage
  /// The folder in which the plugin's is made.
  let folder: String

  func run() throws(Workbench.Refusal) -> ExitCode {
    let path: String
    do throws(StageError) {
      let scaffold = try PluginScaffold(
        named: name, in: language, taken: desk.bench.catalog(beside: nil).kinds)
      path = try scaffold.write(into: ResolvedPath.of(desk.bench.absolute(folder)))
    } catch { throw desk.refusal(error, error.cause == .environment ? .failed : .usage) }
    let shown = desk.shown(path)
    if desk.isJSON {
      desk.console.print(
        Value.group([
          "name": .text(name), "folder": .text(path), "language": .text(language.rawValue),
        ]).canonicalJSON)
      return .done
    }
    let place = ShellWords.line([shown])
    var steps = language.isBuilt ? ["\(place)/build.sh"] : []
    steps += [
      "spool plugin test \(place)", "spool run \(place)/try.yaml RECORDING --plugins \(place)/..",
    ]
    desk.console.print(
      "wrote \(shown)\nnext: " + steps.joined(separator: "\n      "))
    if Plugin.find(language.tool) == nil {
      desk.console.report("note: \(language.tool) is not installed, and it needs that")
    }
    return .done
  }
}

extension ScaffoldLanguage: ArgumentValue {}
