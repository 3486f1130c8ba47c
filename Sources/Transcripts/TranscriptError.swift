/// A transcript that cannot be read or written: in which format, where, why, and what to do next.
public struct TranscriptError: Error, Hashable, Sendable {
  /// What was being done.
  public enum Doing: String, Hashable, Sendable {
    /// Finding out which format a file has.
    case recognising = "recognise"
    /// Reading a file.
    case reading = "read"
    /// Writing a file.
    case writing = "write"
    /// Moving times to where the sound went.
    case moving = "move"
  }

  /// What was being done.
  public let doing: Doing
  /// The name of the format; nil where it is not known.
  public let format: String?
  /// Where the file is wrong; nil where no one place is.
  public let place: TextPlace?
  /// Why it failed.
  public let reason: String
  /// What the user can do.
  public let advice: String?

  init(
    _ doing: Doing, format: String? = nil, at place: TextPlace? = nil, _ reason: String,
    advice: String? = nil
  ) {
    self.doing = doing
    self.format = format
    self.place = place
    self.reason = reason
    self.advice = advice
  }

  /// The same, told of a format.
  func naming(_ format: String) -> TranscriptError {
    TranscriptError(doing, format: self.format ?? format, at: place, reason, advice: advice)
  }
}

extension TranscriptError: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    "cannot \(doing.rawValue) the transcript" + (format.map { " as \($0)" } ?? "")
      + (place.map { ": \($0)" } ?? "") + ": " + reason + (advice.map { " (\($0))" } ?? "")
  }
}
