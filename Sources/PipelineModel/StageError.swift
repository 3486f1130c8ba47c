/// A stage that could not do its work: what, why, and what to do next. The engine adds the step
/// and the recording.
public struct StageError: Error, Hashable, Sendable {
  /// What kind of trouble it is, which decides what happens next.
  public enum Cause: String, Hashable, Sendable, Codable {
    /// The recording or a parameter is at fault: trying again changes nothing.
    case input
    /// The surroundings are at fault (no permission, a folder gone): trying again later may help.
    case environment
    /// A disk is full: with room on it, the same work goes on.
    case fullDisk
    /// Something that only its owner can mend is in the way of all work (the signing key, the ledger):
    /// when it is mended, the same work goes on.
    case blocked
    /// Another process does this work since this one was stopped: what that does can be reused.
    case takenOver = "taken-over"
    /// Something passing (network, busy): trying again soon makes sense.
    case transient
    /// The user asked to stop.
    case cancelled
  }

  /// What failed: `read the recording`.
  public let message: String
  /// Why, in the library's own words where it has some.
  public let reason: String?
  /// What the user can do.
  public let advice: String?
  /// What kind of trouble it is.
  public let cause: Cause
  /// Which of the step's parameters are wrong, and how, where that is known: all of them at once.
  public var faults: [ParameterFault] = []

  /// What else is wrong with the step, each by itself, so that all is told at once.
  public var others: [StageError] = []

  /// The first of several errors, with the others; nil where there are none.
  public static func all(_ errors: [StageError]) -> StageError? {
    guard var first = errors.first else { return nil }
    first.others += errors.dropFirst()
    return first
  }

  /// One wrong value among a step's parameters.
  public struct ParameterFault: Hashable, Sendable {
    /// The keys that lead to it: `["controls", "gain"]`.
    public let path: [String]
    /// What is wrong with it.
    public let message: String

    /// Describes a wrong value.
    public init(at path: [String], _ message: String) {
      self.path = path
      self.message = message
    }
  }

  /// The same, known to come from one value among the step's parameters.
  public func located(at path: [String]) -> StageError {
    var error = self
    if let reason, faults.isEmpty { error.faults = [ParameterFault(at: path, reason)] }
    return error
  }

  /// Describes a failure.
  public init(
    _ message: String, reason: String? = nil, advice: String? = nil, cause: Cause = .input
  ) {
    self.message = message
    self.reason = reason
    self.advice = advice
    self.cause = cause
  }

  /// What failed and why, in one line; where the surroundings are at fault, also what can be done, for
  /// nothing else will change them.
  public var account: String {
    let isMendable = [.environment, .transient, .blocked].contains(cause)
    return message + (reason.map { ": \($0)" } ?? "")
      + (isMendable ? advice.map { "; \($0)" } ?? "" : "")
  }

  /// The store's trouble, as a stage's.
  public init(_ error: StoreError) {
    self.init(
      "cannot \(error.action) \(error.path)", reason: error.reason, advice: error.advice,
      cause: error.isFullDisk ? .fullDisk : error.isTakenOver ? .takenOver : .environment)
  }

  /// The user asked to stop.
  public static let cancelled = StageError("stopped", cause: .cancelled)
}
