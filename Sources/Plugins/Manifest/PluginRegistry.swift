import FoundationEssentials
import Glibc
package import PipelineModel
import Platform

/// The plugins in a set of folders.
package struct PluginRegistry: Sendable {
  /// The usable plugins, by folder and name.
  package private(set) var plugins: [Plugin] = []
  /// Plugins with an invalid manifest.
  package private(set) var flawed: [Flawed] = []
  /// Kinds that several plugins offer or that are built in, and the folders that offer them.
  package private(set) var disputed: [String: [String]] = [:]
  /// Plugin names that occur twice, and the folders. Their kinds cannot be used.
  package private(set) var namesakes: [String: [String]] = [:]

  /// Folders that were skipped because other users can write to them, and why.
  package private(set) var distrusted: [String: String] = [:]

  /// The folders that were searched, in order.
  package private(set) var searched: [String] = []

  /// A plugin with an invalid manifest.
  package struct Flawed: Hashable, Sendable {
    package let folder: String
    /// The manifest's text.
    package let text: String
    package let problems: [Problem]
  }

  package init() {}

  /// Searches folders: every subfolder with a manifest is a plugin. Duplicate folders count once.
  /// O(plugins).
  /// - Parameters:
  ///   - named: the folder that the user named, which is trusted for any owner.
  ///   - pipeline: the folder of the pipeline's file; nil if there is none.
  ///   - installed: folders of the system's packages. A plugin there gives way to one from another
  ///     folder that has its name or one of its kinds.
  ///   - taken: the built-in kinds.
  package init(
    in folders: [String], named: String? = nil, beside pipeline: String? = nil,
    installed: [String] = [], taken: [String] = []
  ) {
    var seen: Set<String> = []
    add(from: (named.map { [$0] } ?? []) + folders, named: named, beside: pipeline, &seen)
    let (names, kinds) = (Set(plugins.map(\.manifest.name)), Set(plugins.flatMap(Self.kinds)))
    let ownCount = plugins.count
    add(from: installed, named: named, beside: pipeline, &seen)
    plugins[ownCount...].removeAll {
      names.contains($0.manifest.name) || !kinds.isDisjoint(with: Self.kinds(of: $0))
    }
    var offers: [String: [String]] = [:]
    for plugin in plugins {
      for kind in Self.kinds(of: plugin) { offers[kind, default: []].append(plugin.folder) }
    }
    disputed = offers.filter { $0.value.count > 1 || taken.contains($0.key) }
    namesakes = Dictionary(grouping: plugins, by: \.manifest.name)
      .filter { $0.value.count > 1 }.mapValues { $0.map(\.folder) }
  }

  private static func kinds(of plugin: Plugin) -> [String] { plugin.manifest.kinds.map(\.kind) }

  private mutating func add(
    from folders: [String], named: String?, beside pipeline: String?, _ seen: inout Set<String>
  ) {
    for registry in folders {
      let path = URL(filePath: registry).standardized.path
      if !searched.contains(path) { searched.append(path) }
      if registry != named, let reason = FolderTrust(registry, beside: pipeline).doubt {
        distrusted[path] = reason
        continue
      }
      for name in ((try? FileManager.default.contentsOfDirectory(atPath: registry)) ?? []).sorted()
      where !name.hasPrefix(".") {
        let folder = "\(registry)/\(name)"
        let real = URL(filePath: folder).resolvingSymlinksInPath().path
        if seen.insert(real).inserted { add(real) }
      }
    }
  }

  /// Whether pipelines can use a kind of this plugin.
  package func canUse(_ kind: PluginManifest.Kind, of plugin: Plugin) -> Bool {
    disputed[kind.kind] == nil && namesakes[plugin.manifest.name] == nil
  }

  package init(folder: String) { add(folder) }

  /// Whether this folder holds a plugin.
  package static func holdsPlugin(_ folder: String) -> Bool {
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

  /// Where packages install plugins; the administrator's own come first.
  package static let installedFolders = [
    "/usr/local/lib/spool/plugins", "/usr/local/share/spool/plugins", "/usr/lib/spool/plugins",
    "/usr/share/spool/plugins",
  ]

  /// The default search path.
  /// - Parameters:
  ///   - pipeline: the folder of the pipeline's file.
  ///   - current: the current folder.
  package static func folders(
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

/// Whether an implicitly searched folder is writable only by the user, by root or by the pipeline's
/// owner. Any user could create `/tmp/Plugins`.
struct FolderTrust {
  /// Why other users may have written there; nil if they cannot or the folder does not exist.
  let doubt: String?

  /// - Parameter pipeline: the pipeline's folder. Its owner is trusted, since the user runs the
  ///   pipeline.
  init(_ folder: String, beside pipeline: String?) {
    guard let stamp = try? FileStamp(following: folder) else {
      doubt = nil
      return
    }
    let owner = pipeline.flatMap { try? FileStamp(following: $0) }?.owner
    if ![0, geteuid(), owner].contains(stamp.owner) {
      doubt = "it belongs to another user"
    } else if stamp.permissions & S_IWOTH != 0 {
      doubt = "everybody can write into it"
    } else {
      doubt = nil
    }
  }
}

/// Whether pipelines can use a plugin, and if not, why.
package struct PluginStatus: Hashable, Sendable {
  /// Usable, or the first reason why not.
  package enum State: Hashable, Sendable {
    case ready
    /// This program, or file of the plugin, is missing.
    case needs(String)
    /// The manifest has this number of problems.
    case manifestWrong(Int)
    /// This kind is built in.
    case kindTaken(String)
    /// Plugins in these folders offer this kind as well.
    case kindTwice(String, [String])
    /// Plugins in these folders have the same name.
    case nameTwice([String])
  }

  package let folder: String
  /// Nil if the manifest is invalid.
  package let plugin: Plugin?
  package let state: State

  /// The manifest's name, or the folder's if the manifest is invalid.
  package var name: String {
    plugin?.manifest.name ?? folder.pathNames.last ?? folder
  }

  /// The state in a few words: `needs python3`.
  package var words: String {
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

extension PluginRegistry {
  /// The status of every plugin, sorted by name. O(plugins).
  package var statuses: [PluginStatus] {
    let whole = plugins.map { plugin in
      PluginStatus(folder: plugin.folder, plugin: plugin, state: state(of: plugin))
    }
    let broken = flawed.map { flawed in
      PluginStatus(
        folder: flawed.folder, plugin: nil, state: .manifestWrong(flawed.problems.count))
    }
    return (whole + broken).sorted { ($0.name, $0.folder) < ($1.name, $1.folder) }
  }

  private func state(of plugin: Plugin) -> PluginStatus.State {
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
