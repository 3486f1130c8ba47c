public import Hashing

/// What a time stamping authority vouches for: that something was there at a time, at the latest.
public struct TimeStamp: Hashable, Sendable {
  /// What was there: the SHA-256 of its bytes.
  public let digest: Digest
  /// The authority's time, in whole seconds since 1970.
  public let time: Double
  /// The name in the certificate that signed, as RFC 2253 writes it: `CN=TSA,O=Example`.
  public let authority: String

  /// The time as ISO 8601 in UTC: `2026-11-21T14:22:05.000Z`.
  public var timeText: String { UniversalTime.text(of: time) }
}
