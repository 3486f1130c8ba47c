import Arguments
import PipelineModel
import PluginHost
import Stages

/// What the parts of `spool plugin` share: the plugins that are found here, and finding one of them.
struct PluginDesk {
  let bench: Workbench
  /// Whether answers are JSON.
  let isJSON: Bool

  var console: Console { bench.console }

  /// Every plugin that a pipeline in the current folder could use.
  var shelf: PluginShelf { bench.shelf(beside: bench.absolute("pipeline.yaml")) }

  /// The folder of a plugin that was named, or whose folder was.
  func folder(of name: String) throws(Workbench.Refusal) -> String {
    let path = ResolvedPath.of(bench.absolute(name))
    let isPath = name.contains("/") || name == "." || name == ".."
    if PluginShelf.holdsPlugin(path) { return path }
    guard !isPath else {
      throw refusal(
        StageError(
          "there is no plugin in \(name)", reason: "it has no plugin.yaml",
          advice: "spool plugin list shows those that are found here"), .usage)
    }
    let standings = shelf.standings
    let found = standings.filter { $0.name == name }
    if found.count > 1 {
      throw refusal(
        StageError(
          "more than one plugin is called \(name)",
          reason: found.map(\.folder).joined(separator: ", "),
          advice: "name its folder; give the others another name, or move them elsewhere"), .usage)
    }
    if let found = found.first { return found.folder }
    let guess = Problem.nearest(to: name, in: standings.map(\.name))
    throw refusal(
      StageError(
        "there is no plugin \"\(name)\"" + (guess.map { "; did you mean \($0)?" } ?? ""),
        reason: "no folder of that name with a plugin.yaml is found here",
        advice: "spool plugin list shows those that are; --plugins DIR names another folder"),
      .usage)
  }

  /// A plugin looked at from all sides; problems are a refusal that shows them.
  func soundPlugin(in folder: String) throws(Workbench.Refusal) -> Plugin {
    let inspection = try inspect(folder)
    guard let plugin = inspection.plugin, inspection.problems.isEmpty else {
      throw bench.refusal(
        inspection.problems, in: inspection.text, at: "\(shown(inspection.folder))/plugin.yaml")
    }
    return plugin
  }

  /// A plugin looked at from all sides.
  func inspect(_ folder: String) throws(Workbench.Refusal) -> PluginInspection {
    do throws(StageError) {
      return try PluginInspection(
        folder: folder,
        taken: StageCatalog.builtIn.kinds + StageCatalog.hostedKinds)
    } catch { throw refusal(error, .usage) }
  }

  func refusal(_ error: StageError, _ code: ExitCode) -> Workbench.Refusal {
    Workbench.Refusal(text: ErrorText(error).render(console), code: code)
  }

  /// A path from the current folder, where it lies in it.
  func shown(_ path: String) -> String {
    let here = ResolvedPath.of(bench.absolute("."))
    return path.hasPrefix(here + "/") ? String(path.dropFirst(here.count + 1)) : path
  }
}
