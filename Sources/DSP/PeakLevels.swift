public import AudioModel

/// The peaks of a stretch of sound, the greatest among all channels.
public struct PeakLevels: Hashable, Sendable, Codable {
  /// The peak of the wave between samples, in dBTP; nil for silence.
  public var truePeak: Decibels?
  /// The greatest |sample|, in dBFS; nil for silence.
  public var samplePeak: Decibels?

  /// Wraps peaks.
  public init(truePeak: Decibels?, samplePeak: Decibels?) {
    self.truePeak = truePeak
    self.samplePeak = samplePeak
  }
}

extension Decibels {
  /// The level of an amplitude; nil for zero, whose level is no number that JSON could hold.
  init?(finiteAmplitude amplitude: Double) {
    guard amplitude > 0, amplitude.isFinite else { return nil }
    self.init(amplitude: amplitude)
  }
}
