internal import JSONText

/// Where what a statement tells of does not come from what it tells before: a signer who took a stage
/// out and chained the rest anew leaves stages behind whose inputs nobody gave.
enum Descent {
  /// Every stage whose inputs are of neither a source nor an earlier stage, that comes twice, or is of
  /// another shape than a stage has; empty where all is well.
  /// - Parameter predicate: one whose shape was looked at, but for the stages.
  static func breaks(in predicate: JSONValue) -> [Chain.Break] {
    var breaks: [Chain.Break] = []
    var names: Set<String> = []
    var given = Set(
      (predicate["origin"]?["sources"]?.list ?? []).flatMap { source in
        [source["digest"]?["sha256"]?.text, source["sidecar"]?["digest"]?["sha256"]?.text]
          .compactMap { $0 }
      })
    for (index, stage) in (predicate["stages"]?.list ?? []).enumerated() {
      let name = Chain.name(of: stage, at: index)
      func add(_ reason: String) { breaks.append(Chain.Break(place: name, reason: reason)) }
      if let flaw = ReceiptForm.stage.flaw(in: stage) { add("its \(flaw.path) \(flaw.reason)") }
      if let id = stage["id"]?.text, !names.insert(id).inserted { add("it is there twice") }
      for (port, identity) in members(of: stage["inputs"]) {
        guard let identity = identity.text, !given.contains(identity) else { continue }
        add("what it took at \(port) was given by no stage before it, and is no source")
      }
      given.formUnion(members(of: stage["outputs"]).compactMap { $0.value["identity"]?.text })
    }
    return breaks
  }

  /// Every file that is said to be of a stage that is not there, or to be there twice, by its name.
  static func strays(among subjects: [JSONValue], of predicate: JSONValue) -> [Chain.Break] {
    let stages = Set((predicate["stages"]?.list ?? []).compactMap { $0["id"]?.text })
    var names: Set<String> = []
    return subjects.compactMap { subject in
      guard let name = subject["name"]?.text else { return nil }
      if !names.insert(name).inserted {
        return Chain.Break(place: name, reason: "the statement names it twice")
      }
      guard let step = subject["annotations"]?["step"]?.text, !stages.contains(step) else {
        return nil
      }
      return Chain.Break(
        place: name, reason: "the stage \(step) gave it, of which the statement says nothing")
    }
  }

  private static func members(of value: JSONValue?) -> [(key: String, value: JSONValue)] {
    guard case .object(let members) = value else { return [] }
    return members.sorted { $0.key < $1.key }
  }
}
