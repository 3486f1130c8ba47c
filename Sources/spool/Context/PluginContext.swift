import PipelineModel
import Platform
import Plugins
import Stages

/// Finding and inspecting plugins by name.
extension CommandContext {
  /// The plugins that a pipeline in the current folder could use.
  var localRegistry: PluginRegistry { registry(beside: absolute("pipeline.yaml")) }

  /// The folder of a plugin, given by name or by folder.
  func pluginFolder(named name: String) throws(SpoolError) -> String {
    let path = ResolvedPath.of(absolute(name))
    let isPath = name.contains("/") || name == "." || name == ".."
    if PluginRegistry.holdsPlugin(path) { return path }
    guard !isPath else {
      throw .usage(
        "there is no plugin in \(name)", reason: "it has no plugin.yaml",
        advice: "spool plugin list shows those that are found here")
    }
    let statuses = localRegistry.statuses
    let found = statuses.filter { $0.name == name }
    if found.count > 1 {
      throw .usage(
        "more than one plugin is called \(name)",
        reason: found.map(\.folder).joined(separator: ", "),
        advice: "name its folder; give the others another name, or move them elsewhere")
    }
    if let found = found.first { return found.folder }
    let guess = Problem.nearest(to: name, in: statuses.map(\.name))
    throw .usage(
      "there is no plugin \"\(name)\"" + (guess.map { "; did you mean \($0)?" } ?? ""),
      reason: "no folder of that name with a plugin.yaml is found here",
      advice: "spool plugin list shows those that are; --plugins DIR names another folder")
  }

  /// A plugin without problems, given by name or by folder.
  func soundPlugin(named name: String) throws(SpoolError) -> Plugin {
    let inspection = try inspectPlugin(in: pluginFolder(named: name))
    if let plugin = inspection.plugin, inspection.problems.isEmpty { return plugin }
    throw refusal(
      inspection.problems, in: inspection.text, at: "\(shown(inspection.folder))/plugin.yaml")
  }

  func inspectPlugin(in folder: String) throws(SpoolError) -> PluginInspection {
    do throws(SpoolError) {
      return try PluginInspection(
        folder: folder, taken: StageCatalog.builtIn.kinds + StageCatalog.hostedKinds)
    } catch { throw error.asUsage }
  }

  /// The path relative to the current folder, if it lies in it.
  func shown(_ path: String) -> String {
    let here = ResolvedPath.of(absolute("."))
    return path.hasPrefix(here + "/") ? String(path.dropFirst(here.count + 1)) : path
  }
}

extension CommandContext {
  /// The stage kinds with the plugins as they are now; nil if these are the ones of a registry, or lack a
  /// kind of the pipeline, which is missed by its name where it is to work.
  func catalog(
    for definition: PipelineDefinition, beside path: String, changedSince registry: PluginRegistry
  ) -> StageCatalog? {
    let now = self.registry(beside: path)
    guard now.plugins != registry.plugins else { return nil }
    let catalog = StageCatalog.builtIn.adding(now)
    return definition.steps.allSatisfy { catalog[$0.kind.value] != nil } ? catalog : nil
  }
}

/// The plugins recorded with a run, and how they have changed when it resumes.
struct PluginUsage {
  private let registry: PluginRegistry

  init(_ registry: PluginRegistry) { self.registry = registry }

  /// The plugins of a pipeline's stages; nil if there are none. Reads all of their files.
  /// - Parameter earlier: their earlier state, for plugins that are temporarily missing.
  func uses(of definition: PipelineDefinition, orElse earlier: [PluginUse]? = nil) -> [PluginUse]? {
    let kinds = Set(definition.steps.map(\.kind.value)).sorted()
    let uses = kinds.compactMap { kind in
      plugin(offering: kind).map { use(of: $0, for: kind) }
        ?? earlier?.first { $0.kind == kind }
    }
    return uses.isEmpty ? nil : uses
  }

  /// The error for a missing plugin, which prevents resuming.
  func loss(since earlier: RunRecord, resumeCommand: String) -> SpoolError? {
    guard let lost = (earlier.plugins ?? []).first(where: { plugin(offering: $0.kind) == nil })
    else { return nil }
    let flawed = registry.flawed.first { $0.folder == lost.folder }
    return SpoolError(
      "the plugin \(lost.name) \(lost.version), which run \(earlier.id) uses, "
        + (flawed == nil ? "is not there any more" : "cannot be read any more"),
      reason: flawed == nil
        ? "it lay in \(lost.folder)" : "the manifest in \(lost.folder) is wrong",
      advice: flawed == nil
        ? "put it back, or name the folder above it now: \(resumeCommand) --plugins DIR"
        : "spool plugin check \(ShellWords.line([lost.folder])) shows what")
  }

  /// Changes that only cause steps to run again.
  func changes(since earlier: RunRecord) -> [String] {
    (earlier.plugins ?? []).compactMap { old in
      guard let now = plugin(offering: old.kind) else { return nil }
      return use(of: now, for: old.kind).change(since: old).map {
        "\($0) since run \(earlier.id): the stage \(old.kind) is made anew"
      }
    }
  }

  private func plugin(offering kind: String) -> Plugin? {
    registry.plugins.first { plugin in
      plugin.manifest.kinds.contains { $0.kind == kind && registry.canUse($0, of: plugin) }
    }
  }

  private func use(of plugin: Plugin, for kind: String) -> PluginUse {
    PluginUse(
      kind: kind, name: plugin.manifest.name, version: plugin.manifest.version,
      digest: plugin.digest().description, folder: plugin.folder)
  }
}

/// Explains an unknown stage kind by plugins that offer it but cannot be used.
extension PluginRegistry {
  /// Problems beyond those of the pipeline's file.
  /// - Parameter earlier: the plugins of earlier runs, newest first; called only for an unknown
  ///   kind.
  func problems(
    with definition: PipelineDefinition, _ catalog: StageCatalog, earlier: () -> [PluginUse]
  ) -> [Problem] {
    let unknown = definition.steps.map(\.kind).filter { catalog[$0.value] == nil }
    guard !unknown.isEmpty else { return [] }
    let uses = earlier()
    let doubles = unknown.compactMap { kind in
      dispute(over: kind.value, at: kind.location) ?? loss(of: kind.value, uses, at: kind.location)
    }
    // An unusable plugin may be the missing one.
    guard doubles.count < unknown.count else { return doubles }
    let flaws = flawed.map { flawed in
      Problem(
        at: nil, "the plugin in \(flawed.folder) is left out: its manifest is wrong",
        allowed: "spool plugin check \(ShellWords.line([flawed.folder])) shows what")
    }
    let doubts = distrusted.sorted { $0.key < $1.key }.map { folder, reason in
      Problem(
        at: nil, "the plugins in \(folder) are left out: \(reason)",
        allowed: "a folder of yours that only you can write into; or name it with --plugins")
    }
    return doubles + flaws + doubts
  }

  /// The missing plugin that offered a kind in earlier runs; nil if none is known.
  private func loss(of kind: String, _ uses: [PluginUse], at place: SourceLocation?) -> Problem? {
    guard let lost = uses.first(where: { $0.kind == kind }) else { return nil }
    let flawed = flawed.contains { $0.folder == lost.folder }
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

  /// The conflict that makes a kind unusable; nil if there is none.
  private func dispute(over kind: String, at place: SourceLocation?) -> Problem? {
    let offering = plugins.filter { $0.manifest.kinds.contains { $0.kind == kind } }
    let names = offering.map(\.manifest.name).filter { namesakes[$0] != nil }
    if let name = names.first {
      return Problem(
        at: place,
        "more than one plugin is called \(name): "
          + (namesakes[name] ?? []).joined(separator: ", "),
        allowed: "one of them; give the others another name and other kinds, or move them elsewhere"
      )
    }
    return disputed[kind].map { folders in
      Problem(
        at: place, "more than one plugin offers \(kind): \(folders.joined(separator: ", "))",
        allowed: "one of them; move the others elsewhere")
    }
  }
}
