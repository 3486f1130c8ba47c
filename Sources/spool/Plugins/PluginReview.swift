import PipelineFile
import PipelineModel
import PluginHost

/// `spool plugin check`: every problem of plugins at once.
struct PluginReview {
  let desk: PluginDesk
  /// Plugins or their folders; none for all that are found here.
  let names: [String]

  func run() throws(Workbench.Refusal) -> ExitCode {
    let shelf = desk.shelf
    var code = ExitCode.done
    var folders: [String] = []
    for name in names { folders += try self.folders(name) }
    if names.isEmpty { folders = shelf.standings.map(\.folder) }
    if folders.isEmpty, !desk.isJSON {
      desk.console.print("no plugins here; spool plugin new NAME makes one")
    }
    for folder in folders {
      let inspection = try desk.inspect(folder)
      let problems = inspection.problems + disputes(of: folder, shelf)
      if !problems.isEmpty { code = .usage }
      tell(problems, of: inspection)
    }
    return code
  }

  /// A plugin, or all plugins in a folder of them.
  private func folders(_ name: String) throws(Workbench.Refusal) -> [String] {
    let path = ResolvedPath.of(desk.bench.absolute(name))
    if !PluginShelf.holdsPlugin(path) {
      let within = PluginShelf(in: [path]).standings.map(\.folder)
      if !within.isEmpty { return within }
    }
    return [try desk.folder(of: name)]
  }

  /// What only shows beside other plugins.
  private func disputes(of folder: String, _ shelf: PluginShelf) -> [Problem] {
    switch shelf.standings.first(where: { $0.folder == folder })?.state {
    case .kindTwice(let kind, let folders):
      [
        Problem(
          at: nil, "\"\(kind)\" is offered by \(folders.joined(separator: ", ")), too",
          allowed: "one plugin for a kind; move the others elsewhere")
      ]
    case .nameTwice(let folders):
      [
        Problem(
          at: nil, "the plugin in \(folders.joined(separator: ", ")) has the same name",
          allowed: "a name of its own, or only one of them")
      ]
    default: []
    }
  }

  private func tell(_ problems: [Problem], of inspection: PluginInspection) {
    let path = "\(desk.shown(inspection.folder))/plugin.yaml"
    if desk.isJSON {
      for problem in problems { desk.console.print(problem.value(in: path).canonicalJSON) }
    } else if problems.isEmpty {
      desk.console.print("\(Format.visible(path)): no problems")
    } else {
      desk.console.report(desk.bench.refusal(problems, in: inspection.text, at: path).text)
    }
  }
}
