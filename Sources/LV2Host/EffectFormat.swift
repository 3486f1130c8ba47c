/// The kinds of plugins that Spool hosts.
public enum EffectFormat: String, Hashable, Sendable, Codable, CaseIterable {
  /// LV2, named by a URI.
  case lv2
  /// LADSPA, named by a library and a label in it.
  case ladspa

  /// For people.
  public var title: String { self == .lv2 ? "LV2" : "LADSPA" }

  /// The folders where its plugins are looked for: those of `LV2_PATH` or `LADSPA_PATH`, or the usual
  /// ones.
  public func folders(_ environment: [String: String]) -> [String] {
    let own = environment["HOME"].map { ["\($0)/.\(rawValue)"] } ?? []
    let usual = own + ["/usr/local/lib/\(rawValue)", "/usr/lib/\(rawValue)"]
    let named = environment["\(title)_PATH"]?.split(separator: ":").map { path in
      path.hasPrefix("~/") ? "\(environment["HOME"] ?? "")\(path.dropFirst())" : String(path)
    }
    return named ?? usual
  }
}
