import Hashing
import PipelineModel
import PluginHost

/// What a run keeps of the plugins that it uses, and what has become of them when it goes on.
struct PluginMemory {
  private let shelf: PluginShelf

  init(_ shelf: PluginShelf) { self.shelf = shelf }

  /// The plugins behind the stages of a pipeline; nil where there are none. Reads all of their files.
  /// - Parameter earlier: those that were behind them, for what is not there at present and is waited
  ///   for.
  func uses(
    of definition: PipelineDefinition, orElse earlier: [PluginUse]? = nil
  ) -> [PluginUse]? {
    let kinds = Set(definition.steps.map(\.kind.value)).sorted()
    let uses = kinds.compactMap { kind in
      plugin(offering: kind).map { use(of: $0, for: kind) }
        ?? earlier?.first { $0.kind == kind }
    }
    return uses.isEmpty ? nil : uses
  }

  /// What keeps a run from going on: a plugin that is gone.
  func loss(since earlier: RunRecord, resumeCommand: String) -> StageError? {
    guard let lost = (earlier.plugins ?? []).first(where: { plugin(offering: $0.kind) == nil })
    else { return nil }
    let flawed = shelf.flawed.first { $0.folder == lost.folder }
    return StageError(
      "the plugin \(lost.name) \(lost.version), which run \(earlier.id) uses, "
        + (flawed == nil ? "is not there any more" : "cannot be read any more"),
      reason: flawed == nil
        ? "it lay in \(lost.folder)" : "the manifest in \(lost.folder) is wrong",
      advice: flawed == nil
        ? "put it back, or name the folder above it now: \(resumeCommand) --plugins DIR"
        : "spool plugin check \(ShellWords.line([lost.folder])) shows what")
  }

  /// What is not as it was, and changes nothing but how much is done again.
  func changes(since earlier: RunRecord) -> [String] {
    (earlier.plugins ?? []).compactMap { old in
      guard let now = plugin(offering: old.kind) else { return nil }
      let use = use(of: now, for: old.kind)
      guard use.digest != old.digest else { return nil }
      let what =
        use.version == old.version
        ? "files of the plugin \(use.name) \(use.version) have changed"
        : "the plugin \(use.name) was \(old.version), and is \(use.version) now"
      return "\(what) since run \(earlier.id): the stage \(old.kind) is made anew"
    }
  }

  private func plugin(offering kind: String) -> Plugin? {
    shelf.plugins.first { plugin in
      plugin.manifest.kinds.contains { $0.kind == kind && shelf.canUse($0, of: plugin) }
    }
  }

  private func use(of plugin: Plugin, for kind: String) -> PluginUse {
    PluginUse(
      kind: kind, name: plugin.manifest.name, version: plugin.manifest.version,
      digest: plugin.digest().description, folder: plugin.folder)
  }
}
