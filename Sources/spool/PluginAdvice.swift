import PipelineModel
import PluginHost

/// What to tell whoever uses a stage kind that a plugin would have, if it could be used.
struct PluginAdvice {
  private let shelf: PluginShelf

  init(_ shelf: PluginShelf) { self.shelf = shelf }

  /// Problems besides those of the pipeline's own file.
  func problems(with definition: PipelineDefinition, _ catalog: StageCatalog) -> [Problem] {
    let unknown = definition.steps.map(\.kind.value).filter { catalog[$0] == nil }
    guard !unknown.isEmpty else { return [] }
    let disputes = Set(unknown).sorted().compactMap { kind in
      shelf.disputed[kind].map { folders in
        Problem(
          at: nil, "more than one plugin offers \(kind): \(folders.joined(separator: ", "))",
          allowed: "one of them; move the others elsewhere")
      }
    }
    let namesakes = shelf.plugins.filter { plugin in
      plugin.manifest.kinds.contains { unknown.contains($0.kind) }
    }.map(\.manifest.name).filter { shelf.namesakes[$0] != nil }
    let doubles = Set(namesakes).sorted().map { name in
      Problem(
        at: nil,
        "more than one plugin is called \(name): "
          + (shelf.namesakes[name] ?? []).joined(separator: ", "),
        allowed: "one of them; give the others another name, or move them elsewhere")
    }
    let flaws = shelf.flawed.map { flawed in
      Problem(
        at: nil, "the plugin in \(flawed.folder) is left out: its manifest is wrong",
        allowed: "spool plugin check \(ShellWords.line([flawed.folder])) shows what")
    }
    return disputes + doubles + flaws
  }
}
