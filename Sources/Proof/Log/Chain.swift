package import Platform

/// The hash chain of a receipt's statements: the origin, then every stage, each with the digest of
/// the one before. Removing, adding or changing a stage breaks it there.
enum Chain {
  struct Break: Hashable {
    /// The statement that does not follow from the one before: a stage, or `the end`.
    let place: String
    let reason: String
  }

  static func digest(of statement: JSONValue) -> Digest {
    SHA256.digest(of: statement.bytes)
  }

  /// A stage's name in messages.
  static func name(of stage: JSONValue, at index: Int) -> String {
    stage["id"]?.text.map { "the stage \($0)" } ?? "stage \(index + 1)"
  }

  /// All breaks in a predicate's chain.
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

/// A running digest over the paths of a transparency log, signed in its heads.
///
/// Initially the SHA-256 of nothing; each path replaces it by the SHA-256 of itself followed by the
/// SHA-256 of the path.
package struct PathChain: Hashable, Sendable {
  package private(set) var digest = SHA256.digest(of: [UInt8]())

  /// O(bytes).
  package init(_ paths: some Sequence<String> = EmptyCollection()) {
    for path in paths { append(path) }
  }

  /// O(bytes).
  package mutating func append(_ path: String) {
    digest = SHA256.digest(of: digest.bytes + SHA256.digest(of: path).bytes)
  }
}
