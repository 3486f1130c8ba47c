import PipelineModel
import PluginHost

/// What to tell whoever uses a stage kind that a plugin would have, if it could be used.
struct PluginAdvice {
  private let shelf: PluginShelf
  /// The plugins of earlier runs, newest first; asked for only where a kind is not known.
  private let earlier: () -> [PluginUse]

  init(_ shelf: PluginShelf, earlier: @escaping () -> [PluginUse] = { [] }) {
    self.shelf = shelf
    self.earlier = earlier
  }

  /// Problems besides those of the pipeline's own file.
  func problems(with definition: PipelineDefinition, _ catalog: StageCatalog) -> [Problem] {
    let unknown = definition.steps.map(\.kind).filter { catalog[$0.value] == nil }
    guard !unknown.isEmpty else { return [] }
    let uses = earlier()
    let doubles = unknown.compactMap { kind in
      dispute(over: kind.value, at: kind.location) ?? loss(of: kind.value, uses, at: kind.location)
    }
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

  /// The plugin that offered a kind in earlier runs and is gone; nil where none is known.
  private func loss(
    of kind: String, _ uses: [PluginUse], at place: SourceLocation?
  ) -> Problem? {
    guard let lost = uses.first(where: { $0.kind == kind }) else { return nil }
    let flawed = shelf.flawed.contains { $0.folder == lost.folder }
    return Problem(
      at: place,
      "the plugin \(lost.name) \(lost.version), which offers \(kind), "
        + (flawed
          ? "cannot be read any more: the manifest in \(lost.folder) is wrong"
          : "is not there any more: it lay in \(lost.folder)"),
      allowed: flawed
        ? "spool plugin check \(ShellWords.line([lost.folder])) shows what"
        : "put it back, or name the folder above it now with --plugins DIR")
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
