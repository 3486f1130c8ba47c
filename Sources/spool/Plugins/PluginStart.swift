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
    let parent = ResolvedPath.of(desk.bench.absolute(folder))
    let path: String
    do throws(StageError) {
      let scaffold = try PluginScaffold(
        named: name, in: language, taken: desk.bench.catalog(beside: nil).kinds)
      path = ResolvedPath.of(try scaffold.write(into: parent))
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
    let isFound = desk.shelf.plugins.contains { $0.folder == path }
    let plugins = isFound ? "" : " --plugins " + ShellWords.line([desk.shown(parent)])
    steps += ["spool plugin test \(place)", "spool run \(place)/try.yaml RECORDING\(plugins)"]
    desk.console.print(
      "wrote \(shown)\nnext: " + steps.joined(separator: "\n      "))
    if Plugin.find(language.tool) == nil {
      desk.console.report("note: \(language.tool) is not installed, and it needs that")
    }
    return .done
  }
}

extension ScaffoldLanguage: ArgumentValue {}
