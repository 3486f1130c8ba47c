import PipelineModel

/// What is wrong with a manifest that was understood as far as it can be.
struct ManifestFindings {
  private(set) var problems: [Problem] = []
  /// Places of values that cannot be understood: what contradicts those may only follow from that.
  private let unclear: Set<SourceLocation>

  init(unclear: Set<SourceLocation>) { self.unclear = unclear }

  /// Whether everything that stands at a place can be understood.
  func isClear(_ place: ManifestPlace) -> Bool { unclear.isDisjoint(with: place.locations) }

  /// Reports a contradiction, unless it may follow from what cannot be understood.
  mutating func report(
    _ place: ManifestPlace, _ message: String, allowed: String? = nil,
    becauseOf others: [ManifestPlace] = []
  ) {
    guard ([place] + others).allSatisfy(isClear) else { return }
    problems.append(Problem(at: place.location, message, allowed: allowed))
  }

  /// Reports what another reader found.
  mutating func report(_ more: [Problem]) { problems += more }

  /// Reports a name that pipelines cannot use.
  mutating func checkName(_ name: String, _ what: String, _ place: ManifestPlace) {
    let isGood =
      name.utf8.first.map { (97...122).contains($0) } == true && name.utf8.count <= 64
      && name.utf8.allSatisfy {
        (97...122).contains($0) || (48...57).contains($0) || $0 == 45 || $0 == 95
      }
    guard !isGood else { return }
    report(
      place, "\(what) cannot be \"\(name)\"",
      allowed: "small letters, digits and dashes, beginning with a letter")
  }
}
