public import Hashing

/// The beginning of a draft, as a note vouches for it: whoever goes on with the draft is only given
/// these very bytes.
public struct DraftPrefix: Hashable, Sendable, Codable {
  /// How many bytes there are.
  public let byteCount: Int
  /// Their SHA-256; nil where they were not written through the draft, and whoever wrote them has
  /// to know whether they are still the same.
  public let digest: Digest?

  /// Describes the first bytes of a draft.
  public init(byteCount: Int, digest: Digest? = nil) {
    self.byteCount = byteCount
    self.digest = digest
  }
}
