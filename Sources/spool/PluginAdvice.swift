import PipelineModel
import PluginHost

/// What to tell whoever uses a stage kind that a plugin would have, if it could be used.
struct PluginAdvice {
  private let shelf: PluginShelf

  init(_ shelf: PluginShelf) { self.shelf = shelf }

  /// Problems besides those of the pipeline's own file.
  func problems(with definition: PipelineDefinition, _ catalog: StageCatalog) -> [Problem] {
    let unknown = definition.steps.map(\.kind).filter { catalog[$0.value] == nil }
    guard !unknown.isEmpty else { return [] }
    let doubles = unknown.compactMap { kind in dispute(over: kind.value, at: kind.location) }
    // A plugin that was looked for and is not used may be the one that is missing.
    guard doubles.count < unknown.count else { return doubles }
    let flaws = shelf.flawed.map { flawed in
      Problem(
        at: nil, "the plugin in \(flawed.folder) is left out: its manifest is wrong",
        allowed: "spool plugin check \(ShellWords.line([flawed.folder])) shows what")
    }
    let doubts = shelf.distrusted.sorted { $0.key < $1.key }.map { folder, reason in
      Problem(
        at: nil, "the plugins in \(folder) are left out: \(reason)",
        allowed: "a folder of yours that only you can write into; or name it with --plugins")
    }
    return doubles + flaws + doubts
  }

  /// What keeps a kind from being used that plugins offer; nil where none does, or nothing.
  private func dispute(over kind: String, at place: SourceLocation?) -> Problem? {
    let offering = shelf.plugins.filter { $0.manifest.kinds.contains { $0.kind == kind } }
    let names = offering.map(\.manifest.name).filter { shelf.namesakes[$0] != nil }
    if let name = names.first {
      return Problem(
        at: place,
        "more than one plugin is called \(name): "
          + (shelf.namesakes[name] ?? []).joined(separator: ", "),
        allowed: "one of them; give the others another name and other kinds, or move them elsewhere"
      )
    }
    return shelf.disputed[kind].map { folders in
      Problem(
        at: place, "more than one plugin offers \(kind): \(folders.joined(separator: ", "))",
        allowed: "one of them; move the others elsewhere")
    }
  }
}
