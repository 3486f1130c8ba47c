import FoundationEssentials
public import PipelineModel

/// The plugins that lie in some folders.
public struct PluginShelf: Sendable {
  /// Plugins that can be used, in the order of the folders and of their names.
  public private(set) var plugins: [Plugin] = []
  /// Plugins whose manifest is wrong.
  public private(set) var flawed: [Flawed] = []
  /// Kinds that more than one plugin offers, or that are Spool's own, and the folders that offer them.
  public private(set) var disputed: [String: [String]] = [:]
  /// Names that more than one plugin has, and the folders of those. Their kinds cannot be used.
  public private(set) var namesakes: [String: [String]] = [:]

  /// Folders that were left out, because others could put plugins into them, and why.
  public private(set) var distrusted: [String: String] = [:]

  /// A plugin whose manifest is wrong.
  public struct Flawed: Hashable, Sendable {
    /// The plugin's folder.
    public let folder: String
    /// The text of its manifest.
    public let text: String
    /// What is wrong with it.
    public let problems: [Problem]
  }

  /// No plugins.
  public init() {}

  /// Looks for plugins: every folder in `folders` that has a manifest is one. A folder that is
  /// named twice counts once. O(plugins).
  /// - Parameters:
  ///   - named: the folder that the user named, which is taken whoever it belongs to.
  ///   - pipeline: the folder of the pipeline's file; nil where there is none.
  ///   - taken: kinds that are Spool's own.
  public init(
    in folders: [String], named: String? = nil, beside pipeline: String? = nil,
    taken: [String] = []
  ) {
    var seen: Set<String> = []
    for shelf in (named.map { [$0] } ?? []) + folders {
      if shelf != named, let reason = FolderTrust(shelf, beside: pipeline).doubt {
        distrusted[URL(filePath: shelf).standardized.path] = reason
        continue
      }
      for name in ((try? FileManager.default.contentsOfDirectory(atPath: shelf)) ?? []).sorted()
      where !name.hasPrefix(".") {
        let folder = "\(shelf)/\(name)"
        let real = URL(filePath: folder).resolvingSymlinksInPath().path
        if seen.insert(real).inserted { add(real) }
      }
    }
    var offers: [String: [String]] = [:]
    for plugin in plugins {
      for kind in plugin.manifest.kinds { offers[kind.kind, default: []].append(plugin.folder) }
    }
    disputed = offers.filter { $0.value.count > 1 || taken.contains($0.key) }
    namesakes = Dictionary(grouping: plugins, by: \.manifest.name)
      .filter { $0.value.count > 1 }.mapValues { $0.map(\.folder) }
  }

  /// Whether pipelines can use a kind of this plugin.
  public func canUse(_ kind: PluginManifest.Kind, of plugin: Plugin) -> Bool {
    disputed[kind.kind] == nil && namesakes[plugin.manifest.name] == nil
  }

  /// Reads one plugin.
  public init(folder: String) { add(folder) }

  /// Whether this folder is a plugin's.
  public static func holdsPlugin(_ folder: String) -> Bool {
    ManifestFile.isThere(in: folder)
  }

  private mutating func add(_ folder: String) {
    guard ManifestFile.isThere(in: folder) else { return }
    let text: String
    switch ManifestFile.text(in: folder) {
    case .success(let found): text = found
    case .failure(let flaw):
      flawed.append(Flawed(folder: folder, text: "", problems: [flaw.problem]))
      return
    }
    let read = ManifestText(text)
    if let manifest = read.manifest {
      plugins.append(Plugin(folder: folder, manifest: manifest))
    } else {
      flawed.append(Flawed(folder: folder, text: text, problems: read.problems))
    }
  }

  /// The folders where plugins are looked for, besides the one that the user names.
  /// - Parameters:
  ///   - pipeline: the folder of the pipeline's file.
  ///   - current: the current folder.
  public static func folders(
    pipeline: String?, current: String, environment: [String: String]
  ) -> [String] {
    var folders: [String] = []
    if let pipeline {
      folders.append("\(pipeline)/Plugins")
      folders.append("\(pipeline)/../Plugins")
    }
    folders.append("\(current)/Plugins")
    let data =
      environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? environment["HOME"].map { "\($0)/.local/share" }
    if let data { folders.append("\(data)/spool/plugins") }
    return folders
  }
}
