internal import Hashing
internal import JSONText

/// The chain of statements inside a receipt: the origin, then every stage, each naming the digest
/// of the one before it. A stage that is taken out, added or changed breaks it at its place.
enum Chain {
  /// Where a chain breaks.
  struct Break: Hashable {
    /// The statement that does not follow from the one before it: a stage, or `the end`.
    let place: String
    let reason: String
  }

  /// The digest of one statement.
  static func digest(of statement: JSONValue) -> Digest {
    SHA256.digest(of: statement.bytes)
  }

  /// What a stage is called where it is told of.
  static func name(of stage: JSONValue, at index: Int) -> String {
    stage["id"]?.text.map { "the stage \($0)" } ?? "stage \(index + 1)"
  }

  /// Every place at which a predicate's chain breaks; empty where it holds.
  static func breaks(in predicate: JSONValue) -> [Break] {
    guard let origin = predicate["origin"], let stages = predicate["stages"]?.list else {
      return [Break(place: "the statement", reason: "it has no origin or no stages")]
    }
    var breaks: [Break] = []
    var before = "the origin"
    var previous = digest(of: origin).hex
    for (index, stage) in stages.enumerated() {
      let name = name(of: stage, at: index)
      if stage["previous"]?.text != previous {
        breaks.append(
          Break(place: name, reason: "it does not follow from \(before) as that is stated"))
      }
      previous = digest(of: stage).hex
      before = name
    }
    if predicate["chain"]?.text != previous {
      breaks.append(
        Break(place: "the end", reason: "the chain does not end with \(before) as it is stated"))
    }
    return breaks
  }
}
