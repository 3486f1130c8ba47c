import PipelineModel

/// How a plugin stands: whether pipelines can use it, and if not, why.
public struct PluginStanding: Hashable, Sendable {
  /// Whether pipelines can use it.
  public enum State: Hashable, Sendable {
    /// They can.
    case ready
    /// This program, or file of the plugin, is missing.
    case needs(String)
    /// Its manifest has so many problems.
    case manifestWrong(Int)
    /// This kind is Spool's own.
    case kindTaken(String)
    /// This kind is offered by plugins in these folders as well.
    case kindTwice(String, [String])
    /// Plugins in these folders have the same name.
    case nameTwice([String])
  }

  /// Its folder.
  public let folder: String
  /// The plugin; nil where its manifest is wrong.
  public let plugin: Plugin?
  /// Whether pipelines can use it.
  public let state: State

  /// What it is called: by its manifest, or where that is wrong, by its folder.
  public var name: String {
    plugin?.manifest.name ?? folder.split(separator: "/").last.map(String.init) ?? folder
  }

  /// The state in a few words: `needs python3`.
  public var words: String {
    switch state {
    case .ready: "ready"
    case .needs(let program): "needs \(program)"
    case .manifestWrong: "manifest wrong"
    case .kindTaken(let kind): "\(kind) is Spool's own"
    case .kindTwice(let kind, _): "\(kind) offered twice"
    case .nameTwice: "name used twice"
    }
  }
}

extension PluginShelf {
  /// How every plugin on the shelf stands, in the order of their names. O(plugins).
  public var standings: [PluginStanding] {
    let whole = plugins.map { plugin in
      PluginStanding(folder: plugin.folder, plugin: plugin, state: state(of: plugin))
    }
    let broken = flawed.map { flawed in
      PluginStanding(
        folder: flawed.folder, plugin: nil, state: .manifestWrong(flawed.problems.count))
    }
    return (whole + broken).sorted { ($0.name, $0.folder) < ($1.name, $1.folder) }
  }

  private func state(of plugin: Plugin) -> PluginStanding.State {
    if let folders = namesakes[plugin.manifest.name] {
      return .nameTwice(folders.filter { $0 != plugin.folder })
    }
    for kind in plugin.manifest.kinds.map(\.kind) {
      guard let folders = disputed[kind] else { continue }
      let others = folders.filter { $0 != plugin.folder }
      return others.isEmpty ? .kindTaken(kind) : .kindTwice(kind, others)
    }
    return plugin.missing.map { .needs($0) } ?? .ready
  }
}
