/// A command line that cannot be understood: everything that is wrong with it, and where to read
/// what would be right.
public struct UsageError: Error, Hashable, Sendable {
  /// What is wrong, the options first; never empty.
  public let problems: [UsageProblem]
  /// Where to read on: `see 'spool run --help'`.
  public let hint: String

  /// One line for each problem, without a full stop.
  public var message: String { problems.map(\.message).joined(separator: "\n") }
}
