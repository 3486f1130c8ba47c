public import AudioModel

/// How far a processor turned sound down, over all frames of all channels that it treated apart.
public struct GainReduction: Hashable, Sendable, Codable {
  /// The least reduction of any frame, in dB; 0 where it let some of the sound through as it was.
  public var least: Decibels
  /// The mean over all frames, in dB.
  public var mean: Decibels
  /// The greatest reduction of any frame, in dB.
  public var greatest: Decibels
  /// For what share of the time the reduction was above 0.1 dB; 0…1.
  public var activeShare: Double

  /// Wraps figures.
  public init(least: Decibels, mean: Decibels, greatest: Decibels, activeShare: Double) {
    self.least = least
    self.mean = mean
    self.greatest = greatest
    self.activeShare = activeShare
  }
}
