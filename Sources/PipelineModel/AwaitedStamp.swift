public import Hashing

/// A time stamp that a receipt waits for.
public struct AwaitedStamp: Hashable, Sendable {
  /// What is to be stamped: the SHA-256 of the receipt.
  public let receipt: Digest
  /// Where the receipt lies, as an absolute path.
  public let path: String
  /// Who is to be asked.
  public let authority: TimeStampAuthority
  /// Where the answer is to lie, as an absolute path.
  public let token: String
  /// Since when it waits, in seconds since 1970.
  public let since: Double
  /// How often it was tried.
  public var attempts = 0
  /// When it is tried again, in seconds since 1970.
  public var nextAttempt: Double
  /// What came in its way the last time; nil where it was not tried.
  public var trouble: String?
  /// The authority's answer, which was checked and has yet to get into its place.
  public var reply: [UInt8]?

  /// Describes one that is due at once.
  public init(
    receipt: Digest, path: String, authority: TimeStampAuthority, token: String, since: Double
  ) {
    self.receipt = receipt
    self.path = path
    self.authority = authority
    self.token = token
    self.since = since
    nextAttempt = since
  }
}
