/// What is installed of one format, in short.
public struct EffectCatalog: Hashable, Sendable, Codable {
  /// One plugin.
  public struct Entry: Hashable, Sendable, Codable {
    /// What pipelines call it.
    public let identity: String
    /// For people.
    public let name: String
    /// What it is for; empty where it does not say.
    public let category: String
    /// Why it cannot treat sound here; nil where it can.
    public let refusal: String?
  }

  /// The plugins, in the order of their names.
  public let entries: [Entry]
  /// Libraries that could not be opened, with the reasons.
  public private(set) var flaws: [String]

  /// The same, with more libraries that are of no use.
  public func adding(flaws more: [String]) -> EffectCatalog {
    var catalog = self
    catalog.flaws += more
    return catalog
  }

  /// Lists plugins.
  init(_ descriptions: [EffectDescription], flaws: [String] = []) {
    entries = descriptions.map {
      Entry(identity: $0.identity, name: $0.name, category: $0.category, refusal: $0.refusal)
    }.sorted { ($0.name.lowercased(), $0.identity) < ($1.name.lowercased(), $1.identity) }
    self.flaws = flaws
  }
}
