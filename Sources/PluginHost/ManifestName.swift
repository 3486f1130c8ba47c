import PipelineModel

/// A name in a manifest, which pipelines use.
struct ManifestName {
  private let name: String

  init(_ name: String) { self.name = name }

  /// Why it cannot be one; nil where it can.
  func problem(of what: String, _ place: ManifestPlace) -> Problem? {
    let isGood =
      name.utf8.first.map { (97...122).contains($0) } == true && name.utf8.count <= 64
      && name.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95
      }
    guard !isGood else { return nil }
    return Problem(
      at: place.location, "\(what) cannot be \"\(name)\"",
      allowed: "small letters, digits and dashes, beginning with a letter")
  }
}
