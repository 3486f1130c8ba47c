public import Hashing

/// A digest over the paths of a ledger's receipts in their order, which grows with the list: what a
/// signed head says about where each receipt lay.
///
/// Of no path it is the SHA-256 of nothing; with each path it becomes the SHA-256 of itself and, behind
/// it, the SHA-256 of the path.
public struct PathChain: Hashable, Sendable {
  /// The digest over all paths.
  public private(set) var digest = SHA256.digest(of: [UInt8]())

  /// The chain over these paths. O(bytes).
  public init(_ paths: some Sequence<String> = EmptyCollection()) {
    for path in paths { append(path) }
  }

  /// Adds a path. O(bytes).
  public mutating func append(_ path: String) {
    digest = SHA256.digest(of: digest.bytes + SHA256.digest(of: path).bytes)
  }
}
