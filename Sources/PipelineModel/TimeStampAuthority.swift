/// Somebody who is asked to vouch for the time of receipts.
public struct TimeStampAuthority: Hashable, Sendable {
  /// Where it is asked: `http://tsa.example.org/tsr`.
  public let url: String
  /// The absolute path of the certificates that are trusted for it, as PEM.
  public let certificates: String

  /// Names an authority.
  public init(url: String, certificates: String) {
    self.url = url
    self.certificates = certificates
  }
}
