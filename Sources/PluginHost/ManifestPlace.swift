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

  subscript(name: String) -> ManifestPlace {
    guard case .mapping(let entries) = node?.content else {
      return ManifestPlace(nil, or: location)
    }
    return ManifestPlace(entries.first { $0.key == name }?.value, or: location)
  }

  subscript(index: Int) -> ManifestPlace {
    switch node?.content {
    case .sequence(let nodes) where index < nodes.count: ManifestPlace(nodes[index])
    case .mapping where index == 0: self  // A single element may be written without the list.
    default: ManifestPlace(nil, or: location)
    }
  }
}
