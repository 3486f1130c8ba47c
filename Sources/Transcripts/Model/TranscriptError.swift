/// A transcript that could not be read or written.
package struct TranscriptError: Error, Hashable, Sendable {
  /// The attempted action.
  package enum Doing: String, Hashable, Sendable {
    case recognising = "recognise"
    case reading = "read"
    case writing = "write"
    /// Mapping times to edited sound.
    case moving = "move"
  }

  package let doing: Doing
  /// The format's name; nil if unknown.
  package let format: String?
  /// The place of the error in the file, if there is one.
  package let place: TextPlace?
  /// The cause.
  package let reason: String
  /// A remedy for the user.
  package let advice: String?

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

  /// The same error with a format's name.
  func naming(_ format: String) -> TranscriptError {
    TranscriptError(doing, format: self.format ?? format, at: place, reason, advice: advice)
  }
}

extension TranscriptError: CustomStringConvertible {
  package var description: String {
    "cannot \(doing.rawValue) the transcript" + (format.map { " as \($0)" } ?? "")
      + (place.map { ": \($0)" } ?? "") + ": " + reason + (advice.map { " (\($0))" } ?? "")
  }
}
