public import Hashing

/// A file that a run was given, as its record names it.
public struct GivenFile: Hashable, Sendable {
  /// Its path.
  public let path: String
  /// The SHA-256 of its bytes.
  public let digest: Digest

  /// A file with these bytes.
  public init(path: String, digest: Digest) {
    self.path = path
    self.digest = digest
  }
}
