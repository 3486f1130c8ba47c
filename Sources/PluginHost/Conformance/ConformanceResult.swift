/// What became of one check of a plugin.
public struct ConformanceResult: Hashable, Sendable {
  /// How a check ended.
  public enum Outcome: String, Hashable, Sendable {
    /// The plugin does what it should.
    case passed
    /// It does not.
    case failed
    /// The check does not apply, or an earlier failure left nothing to try.
    case skipped
  }

  /// The stage kind.
  public let kind: String
  /// The check: `block sizes`.
  public let check: String
  /// How it ended.
  public let outcome: Outcome
  /// What was tried, or what went wrong, for people.
  public let detail: String

  /// The same, with something that helps where it failed.
  func adding(_ hint: String?) -> ConformanceResult {
    guard let hint, outcome == .failed else { return self }
    return ConformanceResult(
      kind: kind, check: check, outcome: outcome, detail: "\(detail); \(hint)")
  }
}
