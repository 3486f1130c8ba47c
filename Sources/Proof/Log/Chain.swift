package import Platform

/// The hash chain of a receipt's statements: the origin, then every stage, each with the digest of
/// the one before. Removing, adding or changing a stage breaks it there.
enum Chain {
  static func digest(of statement: JSONValue) -> Digest {
    SHA256.digest(of: statement.bytes)
  }

  /// A stage's name in messages.
  static func name(of stage: JSONValue, at index: Int) -> String {
    stage["id"]?.text.map { "the stage \($0)" } ?? "stage \(index + 1)"
  }

  /// All statements of a predicate that do not follow from the one before: stages, or `the end`.
  static func breaks(in predicate: JSONValue) -> [Deviation] {
    guard let origin = predicate["origin"], let stages = predicate["stages"]?.list else {
      return [Deviation("the statement", "it has no origin or no stages", .chain)]
    }
    var breaks: [Deviation] = []
    var before = "the origin"
    var previous = digest(of: origin).hex
    for (index, stage) in stages.enumerated() {
      let name = name(of: stage, at: index)
      if stage["previous"]?.text != previous {
        breaks.append(
          Deviation(name, "it does not follow from \(before) as that is stated", .chain))
      }
      previous = digest(of: stage).hex
      before = name
    }
    if predicate["chain"]?.text != previous {
      breaks.append(
        Deviation("the end", "the chain does not end with \(before) as it is stated", .chain))
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
