public import PipelineModel

/// Holds a plugin to the protocol: every kind that it offers is started again and again, in
/// processes of its own, confined as in a run.
public struct PluginConformance {
  private let plugin: Plugin
  private let launcher: String
  private let parameters: [String: Value]
  private let only: [String]
  private let chosen: [String: String]

  /// Prepares the checks.
  /// - Parameters:
  ///   - set: parameters that are not to have their defaults, by name, as pipelines write them.
  ///   - only: the checks that are wanted, by name; none for all.
  ///   - launcher: the program that confines plugins: Spool's own.
  /// - Throws: where the manifest forbids these parameters.
  public init(
    _ plugin: Plugin, set: [String: String] = [:], only: [String] = [],
    launcher: String = "/proc/self/exe"
  ) throws(StageError) {
    self.plugin = plugin
    self.launcher = launcher
    self.only = only
    chosen = set
    var parameters: [String: Value] = [:]
    for kind in plugin.manifest.kinds {
      parameters[kind.kind] = try ParameterTrial.defaults(
        of: kind,
        set: set.filter { name, _ in
          plugin.manifest.kinds.count == 1 || kind.parameters.contains { $0.name == name }
        })
    }
    self.parameters = parameters
  }

  /// Runs all checks, one after the other. After one that hangs, the others of its kind are skipped.
  /// - Parameter report: told of each as soon as it has ended.
  /// - Returns: all of them.
  @discardableResult
  public func run(report: (ConformanceResult) -> Void = { _ in }) -> [ConformanceResult] {
    var results: [ConformanceResult] = []
    for kind in plugin.manifest.kinds {
      var hurdle: String?
      for check in checks(of: kind) where only.isEmpty || only.contains(check.name) {
        let result =
          hurdle.map { hurdle in
            ConformanceResult(
              kind: kind.kind, check: check.name, outcome: .skipped, detail: "not tried: \(hurdle)")
          }
          ?? Self.result(of: check, kind.kind) { failure in
            if failure.isHang { hurdle = "it kept Spool waiting" }
            if results.last?.kind != kind.kind { hurdle = "it does not even start and end" }
          }
          .adding(results.last?.kind != kind.kind ? hint(for: kind) : nil)
        results.append(result)
        report(result)
      }
    }
    return results
  }

  /// What the user can say where the kind needs to be told something that nobody can guess.
  private func hint(for kind: PluginManifest.Kind) -> String? {
    let names = ParameterTrial.madeUp(in: kind, set: chosen)
    guard !names.isEmpty else { return nil }
    return "it was given something made up for \(names.joined(separator: ", ")): "
      + names.map { "--set \($0)=…" }.joined(separator: " ") + " gives it what makes sense"
  }

  /// The names of the checks of all of its kinds, each once.
  public var checkNames: [String] {
    plugin.manifest.kinds.flatMap { checks(of: $0).map(\.name) }.reduce(into: []) { names, name in
      if !names.contains(name) { names.append(name) }
    }
  }

  private func checks(of kind: PluginManifest.Kind) -> [SoundConformance.Check] {
    let values = parameters[kind.kind] ?? .group([:])
    return switch kind.work {
    case .sound:
      SoundConformance(plugin, kind, launcher: launcher, parameters: values).checks
    case .file: FileConformance(plugin, kind, launcher: launcher, parameters: values).checks
    }
  }

  private static func result(
    of check: SoundConformance.Check, _ kind: String, failed: (ConformanceFailure) -> Void
  ) -> ConformanceResult {
    do throws(ConformanceFailure) {
      return ConformanceResult(
        kind: kind, check: check.name, outcome: .passed, detail: try check.body())
    } catch {
      if case .notApplicable(let why) = error {
        return ConformanceResult(kind: kind, check: check.name, outcome: .skipped, detail: why)
      }
      failed(error)
      return ConformanceResult(
        kind: kind, check: check.name, outcome: .failed, detail: error.words)
    }
  }
}
