import PipelineModel
import Platform
package import Plugins

extension Command {
  /// `spool plugin`: manages plugins.
  static let plugin = Command(
    name: "plugin", group: "Pipelines",
    summary: "Make, list, check and test plugins: stages in any language.",
    discussion: """
      list shows every plugin that is found here and how it stands. show tells what one offers. check \
      reports every problem of its manifest, each with its place, and what is missing on this machine; \
      without a name, of all plugins. new writes a plugin that works, with a pipeline to try it and a \
      test; with --lang c it is a program as in other languages, and a native plugin, a shared library, \
      begins from spool_plugin.h instead. test starts a plugin again and again and holds it to the protocol: silence, odd lengths, \
      sample rates, channels, the cutting into blocks, two equal runs, going on after it was killed, \
      parameters at their limits.

      A plugin is a folder with a plugin.yaml. It is looked for where --plugins says, in the folders \
      Plugins beside the pipeline and beside the pipeline's folder, in Plugins of the current folder, \
      in ~/.local/share/spool/plugins, and where packages install plugins. A folder that was not named is left out where others can \
      write into it. These commands look as a pipeline in the current folder would.

      The exit code is 2 if check finds a problem, and 4 if a plugin fails its test.
      """,
    positionals: [Options.action, Options.words],
    options: [
      Options.language, Options.folder, Options.parameters, Options.only, Options.plugins,
      Options.json,
    ],
    examples: [
      Example("Begin a plugin in Python", "spool plugin new warmth --lang python"),
      Example("Does it keep to the protocol?", "spool plugin test Plugins/warmth"),
      Example("What is here?", "spool plugin list"),
    ],
    perform: CommandContext.managePlugins)
}

extension Options {
  fileprivate enum Action: String, CaseIterable, ArgumentValue {
    case list, show, check, test, new
  }

  fileprivate static let action = Positional<Action?>.optional(
    "ACTION", help: "What to do; left out, list.")
  fileprivate static let words = Positional<[String]>.repeated(
    "PLUGIN", minimum: 0, help: "A plugin's name or folder; the name of a new one.",
    completion: .folder)
  fileprivate static let language = Option<PluginScaffold.Language?>.value(
    "lang", "LANGUAGE", help: "With new: what it is written in.", defaultText: "python")
  fileprivate static let folder = Option<String?>.value(
    "dir", "DIR", help: "With new: the folder in which the plugin's folder is made.",
    defaultText: "Plugins", completion: .folder)
  fileprivate static let parameters = Option<[String]>.values(
    "set", "NAME=VALUE", help: "With test: a parameter that is not to have its default.")
  fileprivate static let only = Option<[String]>.values(
    "only", "CHECK", help: "With test: run only this check, such as latency.")
}

extension CommandContext {
  fileprivate func managePlugins() throws(SpoolError) -> ExitCode {
    let words = arguments[Options.words]
    try checkPluginFolder()
    switch (arguments[Options.action] ?? .list, words.count) {
    case (.list, 0): list()
    case (.show, 1): try show(words[0])
    case (.check, _): return try check(words)
    case (.test, 1): return try test(words[0])
    case (.new, 1): try start(words[0])
    default:
      throw .usage(
        "that is not what spool plugin takes",
        advice: "spool plugin list, show NAME, check [DIR], test DIR, or new NAME")
    }
    return .done
  }
}

extension PluginScaffold.Language: ArgumentValue {}

/// `spool plugin new`: writes a template.
extension CommandContext {
  private func start(_ name: String) throws(SpoolError) {
    let language = arguments[Options.language] ?? .python
    // The plugin's folder is made in this one.
    let parent = ResolvedPath.of(absolute(arguments[Options.folder] ?? "Plugins"))
    let path: String
    do throws(SpoolError) {
      let scaffold = try PluginScaffold(
        named: name, in: language, taken: catalog(beside: nil).kinds)
      path = ResolvedPath.of(try scaffold.write(into: parent))
    } catch { throw error.cause == .environment ? error : error.asUsage }
    let shown = self.shown(path)
    if isJSON {
      return console.print(
        Value.group([
          "name": .text(name), "folder": .text(path), "language": .text(language.rawValue),
        ]).canonicalJSON)
    }
    let isFound = localRegistry.plugins.contains { $0.folder == path }
    let plugins = isFound ? [] : ["--plugins", self.shown(parent)]
    let trial = ShellWords.line(["spool", "run", "\(shown)/try.yaml", "RECORDING"] + plugins)
    let steps =
      (language.isBuilt ? [NextCommand(["\(shown)/build.sh"])] : [])
      + [NextCommand(["spool", "plugin", "test", shown])]
    console.print(
      Format.visible(lines: ["wrote \(ShellWords.visible(path: shown)); \(trial) tries it"])
        + "\n" + steps.map(\.text).joined(separator: "\n"))
    if Plugin.find(language.tool) == nil {
      console.report("note: \(language.tool) is not installed, and it needs that")
    }
  }
}

/// `spool plugin list`: every plugin found, with its status.
extension CommandContext {
  private static let none = "no plugins here; spool plugin new NAME makes one"

  private func list() {
    let registry = localRegistry
    let statuses = registry.statuses
    for (folder, reason) in registry.distrusted.sorted(by: { $0.key < $1.key }) {
      console.report(Format.visible("note: \(shown(folder)) is left out: \(reason)"))
    }
    if isJSON {
      for status in statuses { console.print(json(status).canonicalJSON) }
    } else {
      console.print(statuses.isEmpty ? Self.none : table(statuses))
    }
  }

  private func table(_ statuses: [PluginStatus]) -> String {
    let rows =
      [["NAME", "VERSION", "KINDS", "STATE", "FOLDER"]]
      + statuses.map { status in
        [
          status.name, status.plugin?.manifest.version ?? "–",
          status.plugin.map { $0.manifest.kinds.map(\.kind).joined(separator: ", ") } ?? "–",
          status.words, ShellWords.line([shown(status.folder)]),
        ].map(Format.visible)
      }
    let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
    var lines = rows.map { row in
      zip(row, widths).map { Format.pad($0, $1 + 2) }.joined() + row[4]
    }
    let wrong = statuses.filter { $0.state != .ready }
    if !wrong.isEmpty {
      lines += ["", "spool plugin check says what is wrong, and where."]
    }
    return lines.joined(separator: "\n")
  }

  private func json(_ status: PluginStatus) -> Value {
    .group([
      "name": .text(status.name), "folder": .text(status.folder),
      "version": status.plugin.map { .text($0.manifest.version) } ?? .null,
      "kinds": .list((status.plugin?.manifest.kinds ?? []).map { .text($0.kind) }),
      "state": .text(status.words), "ready": .flag(status.state == .ready),
    ])
  }
}

/// `spool plugin test`: runs the conformance checks of a plugin.
extension CommandContext {
  private func test(_ name: String) throws(SpoolError) -> ExitCode {
    let plugin = try soundPlugin(named: name)
    let only = arguments[Options.only]
    let conformance: PluginConformance
    do throws(SpoolError) {
      for text in arguments[Options.parameters] { _ = try assignment(ofSet: text) }
      conformance = try PluginConformance(
        plugin, set: texts(arguments[Options.parameters]), only: only)
    } catch { throw error.asUsage }
    let names = conformance.checkNames
    if let strange = only.first(where: { !names.contains($0) }) {
      let guess = Problem.nearest(to: strange, in: names).map { "; did you mean \"\($0)\"?" } ?? ""
      throw .usage(
        "there is no check \"\(strange)\"\(guess)",
        reason: "the checks of \(plugin.manifest.name) are \(names.joined(separator: ", "))",
        advice: "--only '\(names.first ?? "")'")
    }
    if !isJSON {
      console.print(Format.visible("\(plugin.title)  \(shown(plugin.folder))"))
    }
    var kind: String?
    let results = conformance.run { result in
      if isJSON { return console.print(json(result, plugin).canonicalJSON) }
      if result.kind != kind { console.print("\n  \(result.kind)") }
      kind = result.kind
      console.print(line(result))
    }
    let failed = results.count { $0.outcome == .failed }
    if !isJSON { console.print("\n\(sum(results))") }
    return failed == 0 ? .done : .verificationFailed
  }

  private func line(_ result: ConformanceResult) -> String {
    "    \(Format.pad(result.check, 18))\(Format.pad(result.outcome.rawValue, 9))"
      + Format.visible(result.detail)
  }

  private func sum(_ results: [ConformanceResult]) -> String {
    let outcomes: [ConformanceResult.Outcome] = [.passed, .failed, .skipped]
    return outcomes.compactMap { outcome in
      let count = results.count { $0.outcome == outcome }
      return count > 0 || outcome == .passed ? "\(count) \(outcome.rawValue)" : nil
    }.joined(separator: ", ")
  }

  private func json(_ result: ConformanceResult, _ plugin: Plugin) -> Value {
    .group([
      "plugin": .text(plugin.manifest.name), "version": .text(plugin.manifest.version),
      "kind": .text(result.kind), "check": .text(result.check),
      "outcome": .text(result.outcome.rawValue), "detail": .text(result.detail),
    ])
  }
}

/// `spool plugin check`: every problem of plugins at once.
extension CommandContext {
  /// - Parameter names: plugins or their folders; empty for all that are found.
  private func check(_ names: [String]) throws(SpoolError) -> ExitCode {
    let registry = localRegistry
    var code = ExitCode.done
    var folders: [String] = []
    for name in names { folders += try self.folders(name) }
    if names.isEmpty { folders = registry.statuses.map(\.folder) }
    if folders.isEmpty, !isJSON {
      console.print(Self.none)
    }
    for folder in folders {
      let inspection = try inspectPlugin(in: folder)
      let problems = inspection.problems + disputes(of: folder, registry)
      if !problems.isEmpty { code = .usage }
      tell(problems, in: inspection.text, at: "\(shown(inspection.folder))/plugin.yaml")
    }
    return code
  }

  /// The folder of a plugin, or those of all plugins in a folder.
  private func folders(_ name: String) throws(SpoolError) -> [String] {
    let path = ResolvedPath.of(absolute(name))
    if !PluginRegistry.holdsPlugin(path) {
      let within = PluginRegistry(in: [path]).statuses.map(\.folder)
      if !within.isEmpty { return within }
    }
    return [try pluginFolder(named: name)]
  }

  /// Conflicts with other plugins.
  private func disputes(of folder: String, _ registry: PluginRegistry) -> [Problem] {
    switch registry.statuses.first(where: { $0.folder == folder })?.state {
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

}

/// `spool plugin show`: one plugin and its kinds.
extension CommandContext {
  private func show(_ name: String) throws(SpoolError) {
    let folder = try pluginFolder(named: name)
    let inspection = try inspectPlugin(in: folder)
    guard let plugin = inspection.plugin else {
      throw refusal(inspection.problems, in: inspection.text, at: "\(shown(folder))/plugin.yaml")
    }
    let status = localRegistry.statuses.first { $0.folder == folder }
    let state = status?.words ?? plugin.missing.map { "needs \($0)" } ?? "ready"
    answer(json(plugin, state), text(plugin, state, width: console.width))
  }

  private func text(_ plugin: Plugin, _ state: String, width: Int) -> String {
    let manifest = plugin.manifest
    var rows = [
      ("plugin", plugin.title), ("summary", manifest.summary), ("folder", plugin.folder),
      ("state", state), ("digest", plugin.digest().short),
      ("runs", ShellWords.line(manifest.run)),
    ]
    if !manifest.needs.isEmpty { rows.append(("needs", manifest.needs.joined(separator: ", "))) }
    if !manifest.packages.isEmpty {
      rows.append(("for Python", manifest.packages.joined(separator: ", ")))
    }
    let limits = manifest.limits
    rows.append(
      (
        "limits",
        "\(limits.memory) MB, \(Unit.seconds.format(limits.time)) for an answer, "
          + (limits.network ? "the network" : "no network")
      ))
    if !limits.reads.isEmpty { rows.append(("reads", limits.reads.joined(separator: ", "))) }
    rows.append(("repeatable", manifest.isDeterministic ? "yes" : "no: it is never resumed inside"))
    var lines = rows.map { "\(Format.pad($0.0, 12))\(Format.visible($0.1))" }
    for kind in manifest.kinds {
      lines += ["", StageReference(kind.descriptor(of: plugin.title)).text(width: width)]
    }
    return lines.joined(separator: "\n")
  }

  private func json(_ plugin: Plugin, _ state: String) -> Value {
    let manifest = plugin.manifest
    return .group([
      "name": .text(manifest.name), "version": .text(manifest.version),
      "summary": .text(manifest.summary), "folder": .text(plugin.folder), "state": .text(state),
      "digest": .text(plugin.digest().description),
      "run": .list(manifest.run.map { .text($0) }),
      "needs": .list(manifest.needs.map { .text($0) }),
      "python": .list(manifest.packages.map { .text($0) }),
      "memoryMegabytes": .number(Double(manifest.limits.memory)),
      "timeSeconds": .number(manifest.limits.time), "network": .flag(manifest.limits.network),
      "deterministic": .flag(manifest.isDeterministic),
      "stages": .list(
        manifest.kinds.map { StageReference($0.descriptor(of: plugin.title)).value }),
    ])
  }
}
