public import AudioModel

/// The silences of a recording, and where the sound went when they were shortened.
public struct SilenceReport: Hashable, Sendable, Codable {
  /// A stretch in which nothing was heard, in seconds of the old time.
  public struct Silence: Hashable, Sendable, Codable {
    /// Where it began.
    public let from: Seconds
    /// Where it ended.
    public let to: Seconds
  }

  /// How long the sound was.
  public let before: Seconds
  /// How long it is.
  public let after: Seconds
  /// What is left of it.
  public let pieces: [Timeline.Piece]
  /// Every silence, whether it was shortened or not.
  public let silences: [Silence]

  init(_ timeline: Timeline, silences: [Silence]) {
    before = timeline.before
    after = timeline.after
    pieces = timeline.pieces
    self.silences = silences
  }

  /// Where the sound went.
  public var timeline: Timeline { Timeline(before: before, after: after, pieces: pieces) }
}
