/// How a transcript is written.
public struct WritingOptions: Hashable, Sendable {
  /// Whether words have their times, where the format has a place for them; otherwise only segments
  /// have.
  public var hasWordTimes: Bool
  /// What the recording is called, for formats that name it in each line; white space becomes `_`.
  public var recording: String

  /// Choices of writing.
  public init(hasWordTimes: Bool = true, recording: String = "recording") {
    self.hasWordTimes = hasWordTimes
    self.recording = recording
  }
}
