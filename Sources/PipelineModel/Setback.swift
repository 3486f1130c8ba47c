/// Why a step was begun anew, or goes on further back, although earlier processes had left work of it.
public struct Setback: Hashable, Sendable, Codable {
  /// What became of that work.
  public enum Cause: String, Hashable, Sendable, Codable {
    /// Nothing that was noted of it is left.
    case notesLost = "notes-lost"
    /// It was taken from a process that is stopped, and that may still write into what it had.
    case takenOver = "taken-over"
    /// Some of it is not what was written.
    case damaged
    /// It was of another recording: the file has other bytes by now.
    case recordingChanged = "recording-changed"
  }

  /// What became of it.
  public let cause: Cause
  /// When that was found, in seconds since 1970.
  public let at: Double
  /// The run that was at it; nil where that is not known.
  public var run: RunID?
  /// The process that was at it; nil where that is not known.
  public var processNumber: Int?
  /// What was damaged, in words (`kept sound`), or the path of the recording that has changed; nil for
  /// other causes.
  public var part: String?
  /// What else of the same step was damaged, in words; nil where nothing was.
  public var furtherParts: [String]?

  /// Describes a setback.
  public init(
    _ cause: Cause, at: Double, run: RunID? = nil, processNumber: Int? = nil, part: String? = nil
  ) {
    self.cause = cause
    self.at = at
    self.run = run
    self.processNumber = processNumber
    self.part = part
  }
}
