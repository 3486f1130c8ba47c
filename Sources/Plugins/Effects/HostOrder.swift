import Platform

/// The single argument of a host process.
package struct HostOrder: Hashable, Sendable, Codable {
  /// The command word that precedes it.
  package static let word = "host-effect"

  /// What the host process does.
  package enum Wish: String, Hashable, Sendable, Codable {
    /// Lists all installed plugins.
    case list
    /// Describes one plugin.
    case describe
    /// Runs one plugin.
    case run
  }

  package let wish: Wish
  package let format: EffectFormat
  /// The plugin; empty for a list.
  package let identity: String
  /// The search path.
  package let folders: [String]
  /// Values in the plugin's units, by symbol.
  package let values: [String: Double]
  /// The URI of a preset.
  package let preset: String?
  /// Paths of libraries that a list skips, and of bundles that are always skipped.
  package let excluded: [String]

  package init(
    _ wish: Wish, _ format: EffectFormat, _ identity: String = "", in folders: [String],
    values: [String: Double] = [:], preset: String? = nil, excluding excluded: [String] = []
  ) {
    self.excluded = excluded
    self.wish = wish
    self.format = format
    self.identity = identity
    self.folders = folders
    self.values = values
    self.preset = preset
  }

  /// As one command-line argument.
  package var text: String {
    (try? jsonText()) ?? ""
  }

  /// Parses the argument.
  package init?(_ text: String) {
    do { try self.init(jsonText: text) } catch { return nil }
  }
}

/// The plugin formats that Spool hosts.
package enum EffectFormat: String, Hashable, Sendable, Codable, CaseIterable {
  /// Named by a URI.
  case lv2
  /// Named by a library and a label in it.
  case ladspa

  package var title: String { self == .lv2 ? "LV2" : "LADSPA" }

  /// The search path: `LV2_PATH` or `LADSPA_PATH`, or the default folders.
  package func folders(_ environment: [String: String]) -> [String] {
    let own = environment["HOME"].map { ["\($0)/.\(rawValue)"] } ?? []
    let usual = own + ["/usr/local/lib/\(rawValue)", "/usr/lib/\(rawValue)"]
    let named = environment["\(title)_PATH"]?.split(separator: ":").map { path in
      path.hasPrefix("~/") ? "\(environment["HOME"] ?? "")\(path.dropFirst())" : String(path)
    }
    return named ?? usual
  }
}
