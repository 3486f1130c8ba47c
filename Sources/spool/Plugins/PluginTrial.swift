import PipelineModel
import PluginHost

/// `spool plugin test`: holds a plugin to the protocol, and prints what passed.
struct PluginTrial {
  let desk: PluginDesk
  let name: String
  /// What `--set` says.
  let parameters: [String]
  /// What `--only` says.
  let only: [String]

  func run() throws(Workbench.Refusal) -> ExitCode {
    let plugin = try desk.soundPlugin(in: desk.folder(of: name))
    let conformance: PluginConformance
    do throws(StageError) {
      conformance = try PluginConformance(plugin, set: desk.bench.texts(parameters), only: only)
    } catch { throw desk.refusal(error, .usage) }
    let names = conformance.checkNames
    if let strange = only.first(where: { !names.contains($0) }) {
      let guess = Problem.nearest(to: strange, in: names).map { "; did you mean \"\($0)\"?" } ?? ""
      throw desk.refusal(
        StageError(
          "there is no check \"\(strange)\"\(guess)",
          reason: "the checks of \(plugin.manifest.name) are \(names.joined(separator: ", "))",
          advice: "--only '\(names.first ?? "")'"), .usage)
    }
    if !desk.isJSON {
      desk.console.print(Format.visible("\(plugin.title)  \(desk.shown(plugin.folder))"))
    }
    var kind: String?
    let results = conformance.run { result in
      if desk.isJSON { return desk.console.print(json(result, plugin).canonicalJSON) }
      if result.kind != kind { desk.console.print("\n  \(result.kind)") }
      kind = result.kind
      desk.console.print(line(result))
    }
    let failed = results.count { $0.outcome == .failed }
    if !desk.isJSON { desk.console.print("\n\(sum(results))") }
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
