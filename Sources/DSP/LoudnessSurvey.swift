public import AudioModel

/// What a recording adds to the loudness of an album.
public struct LoudnessSurvey: Hashable, Sendable, Codable {
  /// How loud it is from one tenth of a second to the next.
  public let history: LoudnessHistory
  /// Its true peak; nil for silence, and behind a processor, where it is not measured.
  public let truePeak: Decibels?
}
