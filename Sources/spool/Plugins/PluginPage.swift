import Hashing
import PipelineModel
import PluginHost

/// `spool plugin show`: what one plugin is and offers.
struct PluginPage {
  let desk: PluginDesk
  let name: String

  func run() throws(Workbench.Refusal) -> ExitCode {
    let folder = try desk.folder(of: name)
    let inspection = try desk.inspect(folder)
    guard let plugin = inspection.plugin else {
      throw desk.bench.refusal(
        inspection.problems, in: inspection.text, at: "\(desk.shown(folder))/plugin.yaml")
    }
    let standing = desk.shelf.standings.first { $0.folder == folder }
    let state = standing?.words ?? plugin.missing.map { "needs \($0)" } ?? "ready"
    desk.console.print(
      desk.isJSON ? json(plugin, state).canonicalJSON : text(plugin, state))
    return .done
  }

  private func text(_ plugin: Plugin, _ state: String) -> String {
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
      lines += [
        "",
        StageReference(kind.descriptor(of: plugin.title)).text(width: desk.console.width)
          .trimmingSuffix { $0.isNewline },
      ]
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
      "memory": .number(Double(manifest.limits.memory)),
      "time": .number(manifest.limits.time), "network": .flag(manifest.limits.network),
      "deterministic": .flag(manifest.isDeterministic),
      "stages": .list(
        manifest.kinds.map { StageReference($0.descriptor(of: plugin.title)).value }),
    ])
  }
}

extension String {
  /// The text without the characters at its end that `isLeftOut` names.
  fileprivate func trimmingSuffix(while isLeftOut: (Character) -> Bool) -> String {
    var text = self[...]
    while let last = text.last, isLeftOut(last) { text = text.dropLast() }
    return String(text)
  }
}
