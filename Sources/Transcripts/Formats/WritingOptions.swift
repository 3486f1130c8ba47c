/// How a transcript is written.
public struct WritingOptions: Hashable, Sendable {
  /// Whether words have their times, where the format has a place for them; otherwise only segments
  /// have.
  public var hasWordTimes: Bool
  /// Whether it is said who speaks; some formats have no place for it but the text, where it may be
  /// in the way.
  public var namesSpeakers: Bool
  /// What the recording is called, for formats that name it in each line; white space becomes `_`.
  public var recording: String

  /// Choices of writing.
  public init(
    hasWordTimes: Bool = true, namesSpeakers: Bool = true, recording: String = "recording"
  ) {
    self.hasWordTimes = hasWordTimes
    self.namesSpeakers = namesSpeakers
    self.recording = recording
  }
}
