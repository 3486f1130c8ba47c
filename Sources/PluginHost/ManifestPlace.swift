import PipelineModel

/// A node of a document that is looked for: where it is missing, the nearest one around it.
struct ManifestPlace {
  private let node: DocumentNode?
  let location: SourceLocation

  init(_ node: DocumentNode) {
    self.node = node
    location = node.location
  }

  private init(_ node: DocumentNode?, or location: SourceLocation) {
    self.node = node
    self.location = node?.location ?? location
  }

  /// Whether it is there.
  var isThere: Bool { node != nil }

  /// Where it and everything in it stands.
  var locations: Set<SourceLocation> { node.map(Self.locations) ?? [location] }

  private static func locations(_ node: DocumentNode) -> Set<SourceLocation> {
    var found: Set = [node.location]
    switch node.content {
    case .scalar: break
    case .sequence(let nodes): for inner in nodes { found.formUnion(locations(inner)) }
    case .mapping(let entries):
      for entry in entries { found.formUnion(locations(entry.value).union([entry.location])) }
    }
    return found
  }

  /// Whether it is written as a number, without quotes.
  var isNumber: Bool {
    guard case .scalar(let text, isQuoted: false) = node?.content else { return false }
    return Double(text) != nil
  }

  subscript(name: String) -> ManifestPlace {
    guard case .mapping(let entries) = node?.content else {
      return ManifestPlace(nil, or: location)
    }
    return ManifestPlace(entries.first { $0.key == name }?.value, or: location)
  }

  subscript(index: Int) -> ManifestPlace {
    switch node?.content {
    case .sequence(let nodes) where index < nodes.count: ManifestPlace(nodes[index])
    // A single element may be written without the list.
    case .mapping where index == 0, .scalar where index == 0: self
    default: ManifestPlace(nil, or: location)
    }
  }
}
