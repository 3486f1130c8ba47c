/// Why nothing can be quoted: what, why, and what to do next.
public struct QuoteError: Error, Hashable, Sendable {
  /// What failed, on which file.
  public let message: String
  /// Why.
  public let reason: String?
  /// What the user can do.
  public let advice: String?
  /// Whether something is not as it was signed.
  public let isBroken: Bool

  /// Describes a failure.
  public init(
    _ message: String, reason: String? = nil, advice: String? = nil, isBroken: Bool = false
  ) {
    self.message = message
    self.reason = reason
    self.advice = advice
    self.isBroken = isBroken
  }

  /// What is no fault of anything that was signed.
  public init(_ error: ProofError) {
    self.init(error.message, reason: error.reason, advice: error.advice)
  }
}
