/// Something that cannot be signed, read or trusted: what, why, and what to do next.
public struct ProofError: Error, Hashable, Sendable {
  /// What failed, on which file.
  public let message: String
  /// Why.
  public let reason: String?
  /// What the user can do.
  public let advice: String?

  /// Describes a failure.
  public init(_ message: String, reason: String? = nil, advice: String? = nil) {
    self.message = message
    self.reason = reason
    self.advice = advice
  }
}
